# Two stages: the bundle is built where there is a shell, and shipped where there is none.
# Both images are arguments, so that a registry mirror or a locally made base can stand in.
ARG BUILD_IMAGE=node:24-bookworm-slim
ARG BASE_IMAGE=gcr.io/distroless/nodejs24-debian12:nonroot

FROM ${BUILD_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts && npm rebuild esbuild
COPY . .
RUN node build.ts

FROM ${BASE_IMAGE}
COPY --from=build /src/dist/ /postern/
# 65532 is distroless' nonroot; a number, because Kubernetes cannot check a name against runAsNonRoot.
USER 65532:65532
# Heap flags keep memory and tails small (docs/performance.md); --disable-sigusr1 keeps the inspector shut (LEAK-10).
ENTRYPOINT ["/nodejs/bin/node", "--disable-sigusr1", "--max-semi-space-size=4", "--max-old-space-size=96", "/postern/postern.cjs"]
CMD ["--help"]

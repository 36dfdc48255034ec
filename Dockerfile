# Two stages: the bundle is built where there is a shell, and shipped where there is none.
# Both images are arguments, so that a registry mirror or a locally made base can stand in.
ARG BUILD_IMAGE=node:24-bookworm-slim
ARG BASE_IMAGE=gcr.io/distroless/nodejs24-debian12:nonroot

FROM ${BUILD_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts && npm rebuild esbuild
COPY . .
# The compile cache holds for one user id and one path of the bundle, so it is made as that user, at that path. When the two
# images carry different releases of Node it is passed over: a start takes longer, nothing else.
RUN mkdir /postern && chown 65532:65532 /postern
USER 65532:65532
RUN node build.ts --out /postern --warm /postern/compile-cache

FROM ${BASE_IMAGE}
# Owned by root and writable by nobody: whoever could write here would run code.
COPY --from=build --chown=0:0 --chmod=0555 /postern/postern.cjs /postern/postern.cjs.LEGAL.txt /postern/
COPY --from=build --chown=0:0 --chmod=0555 /postern/compile-cache/ /postern/compile-cache/
ENV NODE_COMPILE_CACHE=/postern/compile-cache
# 65532 is distroless' nonroot; a number, because Kubernetes cannot check a name against runAsNonRoot.
USER 65532:65532
# Heap flags keep memory and tails small (docs/performance.md); --disable-sigusr1 keeps the inspector shut (LEAK-10).
ENTRYPOINT ["/nodejs/bin/node", "--disable-sigusr1", "--max-semi-space-size=4", "--max-old-space-size=96", "/postern/postern.cjs"]
CMD ["--help"]

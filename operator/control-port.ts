/** The port sidecars connect to, from the parts that decide. */
import { limits } from '#core/bounds/limits.ts';
import { CONTROL_BOUNDS } from '#core/runtime/grpc-bounds.ts';
import { GrpcServer } from '#core/runtime/grpc-server.ts';
import { ControlService } from '#operator/control/service.ts';
import { type JudgedPod, judgePod } from '#operator/guard/judge.ts';
import type { AllowedRelease } from '#operator/guard/sidecar-release.ts';
import type { PodObject } from '#operator/kube/records.ts';
import { stateForStream } from '#operator/session/facts.ts';
import { ControlService as ControlSchema } from '#proto/postern/control/v1/control_pb.ts';
import { refuseToListen } from './listen-refusal.ts';
import { logFields } from './log-fields.ts';
import type { OwnRelease } from './own-release.ts';
import type { ReplicaMeans } from './replica-means.ts';

export interface ControlPort {
  readonly port: number;
  /** Streams that stand. */
  readonly open: number;
  /** Lets streams end one after the other, then closes what is left. */
  close(): Promise<void>;
}

/** `cacheAgeMs`: of the oldest cache; infinite before the first list. */
export async function startControl(
  means: ReplicaMeans,
  release: Pick<OwnRelease, 'known'>,
  cacheAgeMs: () => number,
): Promise<ControlPort> {
  const { settings, connection, cluster, certificates, clock, log, metrics, audit } = means;
  const service = new ControlService({
    kube: connection.client,
    cluster,
    clock,
    replica: settings.replica,
    leaseMs: settings.leaseSeconds * 1000,
    judge: (pod) => judge(pod, means, release.known),
    stateOf: (session, acknowledged) => stateForStream(cluster, session, acknowledged),
    serverNowMs: () => connection.transport.serverNowMs?.() ?? clock.wallMs(),
    cacheAgeMs,
    audit: audit.options,
    observer: {
      ended: (code, welcomed) => {
        if (!welcomed) metrics.streamRefused(code.toLowerCase());
      },
      pushed: (durationMs) => metrics.pushed(durationMs),
      writeFailed: (session, error) => log.warn('what a sidecar said could not be written; it is tried again', logFields(session), error),
      effectRefused: (what, because) => metrics.effectRefused(what, because),
      duplicate: (session) => log.warn('a second sidecar of a pod was refused', logFields(session)),
    },
  });
  const server = new GrpcServer({
    bounds: CONTROL_BOUNDS,
    tls: { contextFor: (name) => certificates.contextFor(name), onHandshakeFailed: () => metrics.streamRefused('handshake') },
    onGuardEvent: (event) => metrics.streamRefused(event),
  });
  server.add(ControlSchema, { connect: service.connect });
  const port = await server.listen(settings.host, settings.controlPort).catch(refuseToListen('POSTERN_CONTROL_PORT', settings.controlPort));
  return {
    port,
    get open() {
      return service.open;
    },
    async close() {
      await service.drain();
      await server.close(limits.controlSendMsMax);
      service.stop();
    },
  };
}

/** The guards' own rules, for the pod as it is now: it may be older than they are. */
function judge(pod: PodObject, { cluster }: ReplicaMeans, known: readonly AllowedRelease[]): string | undefined {
  const enforced = cluster.namespaces.get(pod.metadata.namespace ?? '')?.enforced === true;
  const [finding] = judgePod(pod as PodObject & JudgedPod, known, { enforced });
  return finding === undefined ? undefined : `${finding.path}: ${finding.message}`;
}

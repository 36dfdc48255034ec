/**
 * `postern watcher`: the optional process that notices changed Secrets, for clusters where nobody announces rotations. It is apart from
 * the operator because of its right: whoever may list Secrets may read them all. It asks for metadata only.
 */
import { disarm, runtimeFacts, runtimeProblems } from '#core/runtime/hostile-runtime.ts';
import type { Log } from '#core/runtime/log.ts';
import { startProbes } from '#core/runtime/probes.ts';
import { Cache } from '#operator/kube/cache.ts';
import { emptyCluster } from '#operator/kube/cluster.ts';
import type { Connection } from '#operator/kube/connect.ts';
import { Controller } from '#operator/kube/controller.ts';
import { Informer } from '#operator/kube/informer.ts';
import { metadataOnly } from '#operator/kube/metadata-only.ts';
import { bindingRecord } from '#operator/kube/records.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { type SecretRecord, secretRecord, watchVersions, writeSecretVersion } from '#operator/rotation/secret-versions.ts';

export interface WatcherSettings {
  /** Literal address of the probes. */
  readonly host: string;
  readonly port: number;
}

export interface RunningWatcher {
  readonly port: number;
  stop(): Promise<void>;
}

/** Sentences that keep it from starting; empty when there are none. */
export function watcherProblems(): readonly string[] {
  return runtimeProblems(runtimeFacts(process));
}

export async function startWatcher({ client, transport }: Connection, settings: WatcherSettings, log: Log): Promise<RunningWatcher> {
  disarm(process);
  const { bindings } = emptyCluster();
  const watched = { bindings, secrets: new Cache<SecretRecord>() };
  const controller = new Controller({
    name: 'secret_versions',
    keys: () => [...bindings.values()].map(({ namespace, name }) => `${namespace}/${name}`),
    reconcile: async (key) => {
      await writeSecretVersion(key, watched, client);
      return undefined;
    },
    observer: { failed: (_controller, key, error) => log.warn('the version of a secret could not be written', { object: key }, error) },
  });
  watchVersions(watched, (key) => controller.enqueue(key));
  const observer = {
    failed: (kind: string, error: unknown) => log.warn('the API server does not answer as it should', { object: kind }, error),
  };
  const informers = [
    new Informer({ transport, kind: KINDS.bindings, cache: bindings, record: bindingRecord, observer }),
    new Informer({ transport: metadataOnly(transport), kind: KINDS.secrets, cache: watched.secrets, record: secretRecord, observer }),
  ];
  for (const informer of informers) informer.start();
  const started = Promise.all(informers.map(({ synced }) => synced)).then(() => controller.start());
  const probes = await startProbes({
    ...settings,
    notReady: () => informers.filter(({ problem }) => problem !== undefined).map(({ kind }) => kind.plural),
    // Its work is seen where it lands: rotations_total of the operator.
    metrics: async () => ({ text: '', contentType: 'text/plain; version=0.0.4' }),
  });
  void started.then(() => log.info('watching', { admin_address: `${settings.host}:${probes.port}` }));
  return {
    port: probes.port,
    stop: async () => {
      await Promise.all(informers.map((informer) => informer.stop()));
      await controller.stop();
      await probes.close();
      log.info('stopped');
      log.flush();
    },
  };
}

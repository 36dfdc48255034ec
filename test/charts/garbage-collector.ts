/** The garbage collector of a real kube-controller-manager: what goes when its owner goes. */
import { programPath } from '#test/servers/build.ts';
import { startIn } from '#test/servers/process.ts';

export function startGarbageCollector(kubeconfig: string): Promise<AsyncDisposable> {
  return startIn('garbage-collector', async (place) => {
    await place.launch({
      program: await programPath('kube-controller-manager'),
      args: [
        `--kubeconfig=${kubeconfig}`,
        '--controllers=garbage-collector-controller,namespace-controller',
        '--leader-elect=false',
        // Nothing asks it; what it does is seen in the API.
        '--secure-port=0',
      ],
      ready: async () => true,
    });
    return { [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
  });
}

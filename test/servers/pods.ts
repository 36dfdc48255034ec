/** Waiting for pods of a node, and what to say when one does not come up. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Node } from './node.ts';

const waitMs = 90_000;
const pollMs = 100;

export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly annotations?: Record<string, string>;
  };
  readonly spec: Record<string, unknown>;
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly imageID: string;
  /** `containerd://<id>`. */
  readonly containerID?: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state: Readonly<Record<string, Record<string, unknown>>>;
}

/** The pod once it is Ready. Rejects with its Events and logs when it is not in time. */
export function podReady(node: Node, namespace: string, name: string): Promise<Pod> {
  return podUntil(node, namespace, name, (pod) => isReady(pod));
}

export async function podUntil(node: Node, namespace: string, name: string, wanted: (pod: Pod) => boolean): Promise<Pod> {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
  try {
    return await until(`pod ${namespace}/${name}`, async () => {
      const { status, body } = await node.request<Pod>('GET', path);
      return status === 200 && wanted(body) ? body : undefined;
    });
  } catch (error) {
    const described = await node.kubectl(['describe', 'pod', '-n', namespace, name]);
    const logs = await node.kubectl(['logs', '-n', namespace, name, '--all-containers', '--prefix', '--tail=30']);
    throw new Error(`${(error as Error).message}\n${described.stdout.slice(-5000)}\n${logs.stdout}`);
  }
}

export function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

/** What `look` finds, asked again until it is not undefined; what it throws counts as "not yet" and is told at the end. */
export async function until<T>(what: string, look: () => Promise<T | undefined>, limitMs = waitMs): Promise<T> {
  const deadline = performance.now() + limitMs;
  let last: unknown;
  while (performance.now() < deadline) {
    try {
      const found = await look();
      if (found !== undefined) return found;
      last = undefined;
    } catch (error) {
      last = error;
    }
    await sleep(pollMs);
  }
  throw new Error(`Not within ${limitMs / 1000} s: ${what}${last === undefined ? '' : ` (${(last as Error).message})`}`);
}

/** What an injected pod tells about its sidecar. */
import type { ContainerStatus, Pod } from '#test/servers/pods.ts';

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly [field: string]: unknown;
}

/** The init container `postern`; throws when the pod has none. */
export function sidecarOf(pod: Pod): Container {
  const containers = (pod.spec.initContainers ?? []) as readonly Container[];
  const found = containers.find(({ name }) => name === 'postern');
  if (found === undefined) throw new Error(`pod ${pod.metadata.name} has no sidecar: ${JSON.stringify(pod.metadata.annotations)}`);
  return found;
}

/** Value of an argument of the sidecar, `--name=value`. */
export function sidecarArgument(pod: Pod, name: string): string {
  const argument = sidecarOf(pod).args?.find((entry) => entry.startsWith(`${name}=`));
  if (argument === undefined) throw new Error(`the sidecar has no argument ${name}`);
  return argument.slice(name.length + 1);
}

export function sidecarStatus(pod: Pod): ContainerStatus {
  const found = pod.status?.initContainerStatuses?.find(({ name }) => name === 'postern');
  if (found === undefined) throw new Error(`pod ${pod.metadata.name} has no status of a sidecar`);
  return found;
}

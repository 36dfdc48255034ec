/**
 * The origin of a host as a contract names it: `host`, `host:port` or `[address]:port`. It is compared with destinations of bindings, which
 * are canonical, so any other writing of the same host is no destination.
 */
export function sshOrigin(host: string): string {
  return /:[0-9]+$/.test(host) ? `ssh://${host}` : `ssh://${host}:22`;
}

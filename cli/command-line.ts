/** Command lines to copy: the same program, the same sidecar. */
import type { ConnectionOptions } from './connection.ts';

/** `postern <command>`, with the address where it was given: a cursor, a plan, an operation are known nowhere else. */
export function commandLine({ address }: ConnectionOptions): (command: string) => string {
  return (command) => `postern ${command}${address === undefined ? '' : ` --address ${address}`}`;
}

/** For a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

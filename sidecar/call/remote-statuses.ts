/** How the remote answered the requests of one call, for its record: of each answer the status, nothing a remote said. */

import { limits } from '#core/bounds/limits.ts';
import type { Exchange } from '#core/completeness/exchange.ts';
import type { Remote } from '#sidecar/execute/remote.ts';

export class RemoteStatuses {
  readonly #counts = new Map<string, number>();

  /** The same remote, whose answers are counted here. */
  watch(remote: Remote): Remote {
    return {
      ask: async (question, values, options) => {
        const exchange = await remote.ask(question, values, options);
        this.#note(statusOf(exchange));
        return exchange;
      },
    };
  }

  /** Undefined where nothing was asked. `200`, `exit 1`, `signal KILL`, `no exit status`, or why no reply came: `unreachable`, `timedOut`, ... */
  get counts(): Readonly<Record<string, number>> | undefined {
    return this.#counts.size === 0 ? undefined : Object.fromEntries(this.#counts);
  }

  /** A remote that answers with a new status each time must not make the record long. */
  #note(status: string): void {
    const kept = this.#counts.has(status) || this.#counts.size < limits.auditRemoteStatusesMax ? status : 'other';
    this.#counts.set(kept, (this.#counts.get(kept) ?? 0) + 1);
  }
}

function statusOf({ sent, reply }: Exchange): string {
  if (reply.kind === 'noReply') return reply.cause;
  if (sent.method !== 'SSH') return String(reply.status);
  if (reply.exit === undefined) return 'no exit status';
  if ('code' in reply.exit) return `exit ${reply.exit.code}`;
  return /^[A-Z0-9]{1,16}$/.test(reply.exit.signal) ? `signal ${reply.exit.signal}` : 'signal';
}

/**
 * One request to the remote of a source, inside the time of its call. Opening and walking ask through here, so that a
 * deadline means the same in both: our limit, not a fault of the remote.
 */
import type { Exchange } from '#core/completeness/exchange.ts';
import type { OwnStop, SourceWalk } from '#core/completeness/walk.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { methodOf, type Question } from './remote.ts';
import type { SourceRun } from './source-walk.ts';

/** The exchange, or which limit of ours cut it. Throws PosternError for what could not be asked, and for what may not be asked any more. */
export async function askSource(
  run: SourceRun,
  template: Question,
  at: Pick<SourceWalk, 'next' | 'open' | 'follow'>,
): Promise<Exchange | OwnStop> {
  const refused = run.standing.refusal();
  if (refused !== undefined) throw refused;
  const exchange = await askOrMisfit(run, template, at);
  return exchange.reply.kind === 'noReply' && run.signal.aborted ? run.budget.interruption() : exchange;
}

export function isStop(value: Exchange | OwnStop): value is OwnStop {
  return 'limit' in value;
}

/** A cursor of the remote that fits no request is its fault, and no reason to lose the rows before it. */
async function askOrMisfit(
  run: SourceRun,
  template: Question,
  { next, open, follow }: Pick<SourceWalk, 'next' | 'open' | 'follow'>,
): Promise<Exchange> {
  try {
    const values = { ...run.values, next, open, budget: { millis: Math.max(1, Math.floor(run.budget.timeLeftMs)) } };
    return await run.remote.ask(template, values, {
      signal: run.signal,
      bodyBytesMax: run.budget.bytesLeft,
      ...(follow === undefined ? {} : { follow }),
    });
  } catch (thrown) {
    if (!(thrown instanceof PosternError) || thrown.reason !== 'REMOTE_PROTOCOL') throw thrown;
    return {
      sent: { method: methodOf(template), path: '', query: {}, headers: {}, body: null },
      reply: { kind: 'noReply', cause: 'protocol', sent: false, receivedAtMs: run.clock.wallMs() },
    };
  }
}

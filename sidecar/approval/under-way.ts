/**
 * Which calls are under way, or held because nobody knows what became of them: an equal one - same contract, same arguments - is not sent
 * beside them. After a restart those of unknown outcome are taken from the journal; a call that its remote recognizes (`idempotency`
 * Natural, or Key) is judged by the gate, which knows for how long.
 */
import { PosternError } from '#core/error/postern-error.ts';
import type { Journal } from '#sidecar/journal/journal.ts';
import type { Intent } from './decider.ts';

interface Call {
  readonly operationId: string;
  readonly holds: boolean;
  readonly lost: boolean;
}

export class UnderWay {
  /** By contract and digest of the arguments. */
  readonly #calls = new Map<string, Call>();

  constructor(journal: Journal) {
    for (const { record, phase, resolution } of journal.list()) {
      if (phase !== 'unknown' || resolution !== undefined || record.idempotency !== 'None' || record.effect === 'Read') continue;
      this.#calls.set(keyOf(record), { operationId: record.operationId, holds: true, lost: true });
    }
  }

  /** Throws IDEMPOTENCY_BUSY or OUTCOME_UNKNOWN for an equal call; the same operation is no other one. */
  begin(intent: Intent): void {
    const { operationId, holds } = intent;
    const other = this.#calls.get(keyOf(intent));
    if (other !== undefined && other.operationId !== operationId) {
      const details = { operation_id: other.operationId };
      if (other.lost)
        throw new PosternError('OUTCOME_UNKNOWN', 'Nobody knows whether an equal call took effect; a person must find out first.', {
          operationId: other.operationId,
          details,
        });
      throw new PosternError('IDEMPOTENCY_BUSY', 'An equal call is running.', { details });
    }
    this.#calls.set(keyOf(intent), { operationId, holds, lost: false });
  }

  /** Its outcome is not known. */
  lost(operationId: string): void {
    for (const [key, call] of this.#calls) {
      if (call.operationId !== operationId) continue;
      if (call.holds) this.#calls.set(key, { ...call, lost: true });
      else this.#calls.delete(key);
    }
  }

  end(operationId: string): void {
    for (const [key, call] of this.#calls) if (call.operationId === operationId) this.#calls.delete(key);
  }
}

function keyOf({ contract, argsDigest }: { readonly contract: string; readonly argsDigest: string }): string {
  return `${contract} ${argsDigest}`;
}

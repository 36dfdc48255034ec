/**
 * Room for the answers of one operation: together they fit one message, and what a remote sends beyond it is not held in memory until the
 * last target is done. What does not fit is dropped whole, and says so; the effect is done all the same.
 */
import { limits } from '#core/bounds/limits.ts';
import type { Envelope } from '#core/completeness/envelope.ts';
import type { TargetAnswer } from './steps.ts';

export class AnswerRoom {
  /** Of JSON. A read that a person agreed to has counted for itself. */
  #bytesLeft = limits.resultDataBytesMax - FRAME_BYTES;

  /** The answer, or what is left of it. */
  take(answer: TargetAnswer): TargetAnswer {
    if (answer.kind !== 'done' || !('value' in answer)) return answer;
    const bytes = Buffer.byteLength(JSON.stringify(answer.value));
    if (bytes > this.#bytesLeft) return { ...answer, value: null, envelope: cut(answer.envelope) };
    this.#bytesLeft -= bytes;
    return answer;
  }
}

/** The name of the member, and brackets, commas and `null` for as many targets as an effect may have. */
const FRAME_BYTES = 4096;

function cut({ completeness, ...envelope }: Omit<Envelope, 'data'>): Omit<Envelope, 'data'> {
  const limit = { message_bytes: limits.resultDataBytesMax };
  const message = 'It took effect; its answer is larger than what is left of one message, and was dropped.';
  const reason = { code: 'RESULT_LIMIT_REACHED', message, origin: 'sidecar', limit } as const;
  return {
    ...envelope,
    status: 'partial',
    completeness: {
      ...completeness,
      complete: false,
      truncated: true,
      incomplete_reasons: [...completeness.incomplete_reasons, reason],
    },
  };
}

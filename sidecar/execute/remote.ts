/**
 * One remote as the walk sees it: a request template or a command in, an exchange out. What happens between - assembling,
 * attaching the credential, sending, masking, decoding - happens in this order and nowhere else.
 */

import type { Exchange } from '#core/completeness/exchange.ts';
import type { RequestTemplate, SshTarget } from '#core/contract/compiled.ts';
import type { SlotValues } from '#core/contract/slot-value.ts';

/** What a remote is asked: a request over HTTP, or the one command of a contract over SSH. */
export type Question = RequestTemplate | SshTarget;

export function isCommand(question: Question): question is SshTarget {
  return 'argv' in question;
}

/** As rules see it in `sent.method`. */
export function methodOf(question: Question): string {
  return isCommand(question) ? 'SSH' : question.method;
}

export interface AskOptions {
  /** Aborted at the total deadline and when the caller cancels. */
  readonly signal: AbortSignal;
  /** Path and query of a followed URL, already judged by the paging rules. */
  readonly follow?: string;
  /** Decoded bytes the call may still take. */
  readonly bodyBytesMax: number;
}

export interface Remote {
  /**
   * Sends one request, or runs one command, and gives what came back; a missing reply is a value, not an error.
   * Throws PosternError for what never left us: INVALID_ARGUMENT, VAULT_LOCKED, CREDENTIAL_INVALID, CONTRACT_NOT_READY.
   */
  ask(question: Question, values: SlotValues, options: AskOptions): Promise<Exchange>;
}

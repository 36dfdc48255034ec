/**
 * One remote as the walk sees it: a request template in, an exchange out. What happens between - assembling,
 * attaching the credential, sending, masking, decoding - happens in this order and nowhere else.
 */

import type { Exchange } from '#core/completeness/exchange.ts';
import type { RequestTemplate } from '#core/contract/compiled.ts';
import type { SlotValues } from '#core/contract/slot-value.ts';

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
   * Sends one request and gives what came back; a missing reply is a value, not an error.
   * Throws PosternError for what never left us: INVALID_ARGUMENT, VAULT_LOCKED, CREDENTIAL_INVALID, CONTRACT_NOT_READY.
   */
  ask(template: RequestTemplate, values: SlotValues, options: AskOptions): Promise<Exchange>;
}

/**
 * A plan: one call, fully validated, before anything is sent. Built by prepare.ts and by nothing else.
 */

import type { JsonValue } from '#core/contract/compiled.ts';
import type { OpenedCursor } from '#sidecar/cursor/cursor.ts';
import type { ServedAction } from './bundle.ts';

export interface Plan {
  readonly served: ServedAction;
  /** Frozen, canonical: the one value that schema, request, cursor and evidence use. */
  readonly args: Readonly<Record<string, JsonValue>>;
  /** `sha256:` over the canonical arguments. */
  readonly argsDigest: string;
  readonly requestId: string;
  readonly operationId: string;
  readonly onePage: boolean;
  readonly deadlineMs?: number;
  /** The walk so far, where the call goes on with a cursor. */
  readonly resume?: OpenedCursor;
}

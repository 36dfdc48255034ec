/**
 * A plan: one call, fully validated, before anything is sent. Built by prepare.ts and by nothing else.
 */

import type { SourceWalk } from '#core/completeness/walk.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
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
  readonly resume?: { readonly walks: readonly SourceWalk[]; readonly calls: number; readonly expired: boolean };
}

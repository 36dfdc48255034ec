/**
 * What an evidence token says, or why there is none. Only complete and fresh answers give evidence, and it binds
 * the question as well as the answer: session (by the seal), revision, arguments, scope, snapshot, ids and time.
 */
import type { CompiledContract, JsonValue, Revision } from '#core/contract/compiled.ts';
import { forbidsEvidence } from './decide.ts';
import type { Envelope, Scope } from './envelope.ts';
import { keptIds } from './identity.ts';
import type { SourceWalk } from './source-walk.ts';

export interface EvidenceClaim {
  readonly version: 1;
  readonly contract: string;
  readonly namespace: string;
  readonly revision: Revision;
  readonly argsDigest: string;
  /** Canonical, so that a mutation's arguments can be matched one by one. */
  readonly args: Readonly<Record<string, JsonValue>>;
  readonly scope: Scope;
  readonly sources: readonly string[];
  /** The ids listed, joined; see identity.ts for how one is made and looked up. */
  readonly ids: string;
  readonly items: number;
  /** `Checked`: the pages were seen to belong together. `Declared`: their owner says so. */
  readonly proof: 'Checked' | 'Declared';
  /** When the first page came, or the handle was opened: the age of the oldest row, however long the walk took. */
  readonly atMs: number;
}

export type EvidenceResult =
  | { readonly kind: 'evidence'; readonly claim: EvidenceClaim }
  | { readonly kind: 'none'; readonly because: string };

export interface EvidenceInput {
  readonly contract: CompiledContract;
  readonly walks: readonly SourceWalk[];
  readonly envelope: Envelope;
  readonly argsDigest: string;
  readonly args: Readonly<Record<string, JsonValue>>;
  readonly nowMs: number;
}

export function evidenceFor({ contract, walks, envelope, argsDigest, args, nowMs }: EvidenceInput): EvidenceResult {
  const { completeness, warnings } = envelope;
  if (!completeness.complete) return none('the answer is not complete');
  if (warnings.some((warning) => forbidsEvidence(warning, nowMs))) return none('a warning forbids it: stale data, or one past its expiry');
  if (contract.result.id.length === 0) return none('the contract names no id for its items');
  if (contract.result.aggregate !== undefined) return none('an aggregate lists no items');
  if (walks.some(({ idsDropped }) => idsDropped)) return none('the walk is longer than its ids can be carried');
  const { consistency } = completeness.scope;
  if (consistency === 'unproven') return none('the pages are not proven to belong together');
  return {
    kind: 'evidence',
    claim: {
      version: 1,
      contract: contract.name,
      namespace: contract.namespace,
      revision: contract.revision,
      argsDigest,
      args,
      scope: completeness.scope,
      sources: walks.map(({ source }) => source),
      ids: walks.map(({ ids }) => keptIds(ids)).join(''),
      items: completeness.page.walk.returned,
      proof: consistency === 'declared' ? 'Declared' : 'Checked',
      atMs: Math.min(nowMs, ...walks.map(({ sinceMs }) => sinceMs ?? nowMs)),
    },
  };
}

function none(because: string): EvidenceResult {
  return { kind: 'none', because };
}

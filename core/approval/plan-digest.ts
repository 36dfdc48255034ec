/**
 * What a plan is, as one digest: what is approved, what is journaled and what is sent are compared by it (APR-01, APR-02).
 */
import type { CompiledContract } from '#core/contract/compiled.ts';
import { type Digest, digestOf } from '#core/encoding/canonical.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';

export interface PlanParts {
  readonly revision: CompiledContract['revision'];
  /** `digestOf('arguments', ...)` of the canonical arguments. */
  readonly argsDigest: string;
  /** Every request as it will be sent, in order, without its credential; one for each element of a forEach. */
  readonly requests: JsonValue;
  /** Digests of the evidence the plan rests on; empty for none. */
  readonly evidence: readonly string[];
  /** Set where one yes covers more than this call. */
  readonly grant?: { readonly calls: number; readonly vary: readonly string[] };
}

/** Order of `evidence` is part of it. Throws TypeError where `requests` holds what JSON cannot say. */
export function planDigest({ revision, argsDigest, requests, evidence, grant }: PlanParts): Digest {
  return digestOf('plan', {
    revision,
    arguments: argsDigest,
    requests,
    evidence,
    grant: grant === undefined ? null : { calls: grant.calls, vary: grant.vary },
  });
}

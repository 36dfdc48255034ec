/**
 * An effect as its recording answers it: every request once, its reply judged as production judges it. What surrounds it there - journal,
 * person, evidence, recheck - is not the contract's word about its remote, and is not played.
 */
import type { Completeness, Envelope } from '#core/completeness/envelope.ts';
import type { CompiledContract, JsonValue } from '#core/contract/compiled.ts';
import { elementsOf } from '#core/contract/render-effect.ts';
import { type EffectAnswer, type EffectMeans, sendEffect } from '#sidecar/execute/effect.ts';
import type { Outcome } from './outcome.ts';

export interface ReplayedEffect {
  readonly contract: CompiledContract;
  readonly args: Readonly<Record<string, JsonValue>>;
  readonly operationId: string;
}

type Done = Extract<EffectAnswer, { kind: 'done' }>;

/** Throws the error of the first request that was refused or whose outcome is unknown, once nothing more is sent. */
export async function replayEffect(effect: ReplayedEffect, means: EffectMeans): Promise<Outcome> {
  const { contract } = effect;
  const elements = elementsOf(contract, effect.args);
  const done: Done[] = [];
  let failed: unknown;
  for (const element of elements ?? [undefined]) {
    const answer = await sendEffect({ ...effect, ...(element === undefined ? {} : { element }) }, means);
    if (answer.kind === 'done') done.push(answer);
    else failed ??= answer.error;
    if (answer.kind !== 'done' && contract.effects.forEach?.onFailure !== 'Continue') break;
  }
  if (failed !== undefined) throw failed;
  return merged(contract, done, elements !== undefined);
}

function merged(contract: CompiledContract, done: readonly Done[], several: boolean): Outcome {
  const envelopes = done.map(({ envelope }) => envelope);
  const values = done.map(({ value }) => value);
  return {
    status: envelopes.every(({ status }) => status === 'ok') ? 'ok' : 'partial',
    ...completenessOf(envelopes),
    warnings: envelopes.flatMap(({ warnings }) => warnings),
    omitted: envelopes.flatMap(({ omitted_fields: omitted }) => omitted),
    data: { [contract.result.as]: several ? values : (values[0] ?? null) },
    items: values.length,
  };
}

/** The reasons of all; everything else is the first one's. */
function completenessOf(envelopes: readonly Omit<Envelope, 'data'>[]): { readonly completeness?: Completeness } {
  const [first] = envelopes;
  if (first === undefined) return {};
  const reasons = envelopes.flatMap(({ completeness }) => completeness.incomplete_reasons);
  return { completeness: { ...first.completeness, complete: reasons.length === 0, incomplete_reasons: reasons } };
}

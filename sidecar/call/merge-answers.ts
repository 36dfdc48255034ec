/** The answers of all targets of an effect as one: one value each, and everything that any of them said about itself. */
import type { Completeness, Envelope } from '#core/completeness/envelope.ts';
import type { CompiledContract, JsonValue } from '#core/contract/compiled.ts';
import type { ExecuteResult } from './calls.ts';
import { withoutAnswer } from './outcome.ts';
import type { Done } from './steps.ts';

type Answer = Pick<ExecuteResult, 'envelope' | 'dataJson'>;

/** `several`: the member of `data` is a list with one entry a target. An answer that is not here any more makes the whole incomplete. */
export function mergeAnswers(contract: CompiledContract, answers: readonly (Done | undefined)[], several: boolean): Answer {
  const [only] = answers;
  // A read that a person agreed to: it made its own envelope, cursor and all.
  if (only !== undefined && 'result' in only) {
    const { envelope, dataJson, evidence } = only.result;
    return { envelope, dataJson, ...(evidence === undefined ? {} : { evidence }) };
  }
  const values = answers.map((answer): JsonValue => (answer !== undefined && 'value' in answer ? answer.value : null));
  const envelopes = answers.map((answer) => (answer !== undefined && 'value' in answer ? answer.envelope : withoutAnswer(LOST).envelope));
  const data = { [contract.result.as]: several ? values : (values[0] ?? null) };
  return { envelope: mergeEnvelopes(envelopes), dataJson: Buffer.from(JSON.stringify(data), 'utf8') };
}

const LOST = 'A part of the effect was done before, and its answer is not kept.';

type Bare = Omit<Envelope, 'data'>;

function mergeEnvelopes(envelopes: readonly Bare[]): Bare {
  const [first, ...rest] = envelopes;
  // An effect on an empty list: all of nothing is done.
  if (first === undefined) return withoutAnswer('There was nothing to do.').envelope;
  if (rest.length === 0) return first;
  return {
    status: envelopes.every(({ status }) => status === 'ok') ? 'ok' : 'partial',
    completeness: mergeCompleteness(
      envelopes.map(({ completeness }) => completeness),
      first.completeness,
    ),
    warnings: distinct(envelopes.flatMap(({ warnings }) => warnings)),
    omitted_fields: distinct(envelopes.flatMap(({ omitted_fields: omitted }) => omitted)),
  };
}

function mergeCompleteness(all: readonly Completeness[], first: Completeness): Completeness {
  const sum = (read: (each: Completeness) => number) => all.reduce((total, each) => total + read(each), 0);
  return {
    ...first,
    complete: all.every(({ complete }) => complete),
    truncated: all.some(({ truncated }) => truncated),
    incomplete_reasons: distinct(all.flatMap(({ incomplete_reasons: reasons }) => reasons)),
    page: {
      returned: sum(({ page }) => page.returned),
      walk: { returned: sum(({ page }) => page.walk.returned), calls: 1, pages: sum(({ page }) => page.walk.pages) },
    },
    budget: { ...first.budget, spent_ms: sum(({ budget }) => budget.spent_ms), waited_ms: sum(({ budget }) => budget.waited_ms) },
  };
}

function distinct<Value>(values: readonly Value[]): readonly Value[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

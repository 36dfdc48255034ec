/**
 * What the reads that Postern makes for an effect say: whether its target is still what it must be, what became of an effect whose reply
 * was lost, and what a person should see of the target before.
 *
 * A read that is not all of it, or that says of itself that it is stale, never lets anything happen: it may only stop (recheck) or leave
 * open (settle). That an effect took place is the one thing an incomplete answer can show, by holding it.
 */
import type { JsonValue } from '#core/contract/compiled.ts';
import { forbidsEvidence } from './decide.ts';
import type { Envelope } from './envelope.ts';
import { type Path, readPath } from './path.ts';
import type { Rule, RuleInput } from './rule.ts';
import type { Folded } from './source-walk.ts';

/** What a rule may look at beside the data of the read. */
export interface RecheckInput {
  /** Of the effect. */
  readonly args: Readonly<Record<string, JsonValue>>;
  readonly nowMs: number;
}

export type RecheckVerdict =
  | { readonly kind: 'holds' }
  /** The target is not what it must be; our own sentence. */
  | { readonly kind: 'stops'; readonly because: string }
  /** The read does not tell; the effect does not happen either. */
  | { readonly kind: 'cannotTell'; readonly because: string };

/** `expect` must be true over the data of a whole, fresh answer. An expression that fails is false (contract language 2.1). */
export function recheck(answer: Folded, expect: Rule, input: RecheckInput): RecheckVerdict {
  if (answer.kind === 'error') return { kind: 'cannotTell', because: `The target could not be read again: ${withoutEnd(answer.message)}.` };
  const doubt = doubtOf(answer.envelope, input.nowMs);
  if (doubt !== undefined) return { kind: 'cannotTell', because: `The target was read again, and ${doubt}.` };
  const result = expect.evaluate(ruleInput(answer.envelope, input));
  if (result.ok && result.value === true) return { kind: 'holds' };
  const because = result.ok ? 'it is not what the contract expects' : `what the contract expects could not be evaluated: ${result.error}`;
  return { kind: 'stops', because: `The target was read again right before the effect, and ${because}.` };
}

export type SettleVerdict =
  | { readonly kind: 'done' }
  | { readonly kind: 'notDone' }
  | { readonly kind: 'unknown'; readonly because: string };

/** `done` from any answer that shows it; `notDone` only from a whole and fresh one; both at once prove nothing. */
export function settle(answer: Folded, rules: { readonly done: Rule; readonly notDone?: Rule }, input: RecheckInput): SettleVerdict {
  if (answer.kind === 'error') return { kind: 'unknown', because: `The read that would tell failed: ${withoutEnd(answer.message)}.` };
  const { envelope } = answer;
  const done = isTrue(rules.done, envelope, input);
  const notDone = rules.notDone !== undefined && isTrue(rules.notDone, envelope, input);
  if (done && notDone) return { kind: 'unknown', because: 'The read shows it done and not done at once.' };
  if (done) return { kind: 'done' };
  if (!notDone) return { kind: 'unknown', because: 'The read shows neither that it was done nor that it was not.' };
  const doubt = doubtOf(envelope, input.nowMs);
  return doubt === undefined ? { kind: 'notDone' } : { kind: 'unknown', because: `The read does not show it done, but ${doubt}.` };
}

export type BeforeVerdict =
  /** In the order of `fields`; null where the answer has no such value. */
  | { readonly kind: 'read'; readonly before: readonly { readonly name: string; readonly before: JsonValue }[] }
  | { readonly kind: 'cannotTell'; readonly because: string };

/** What a person sees of the target before it is changed. Half a target is not shown as one. */
export function before(
  answer: Folded,
  fields: readonly { readonly name: string; readonly path: Path }[],
  { nowMs }: Pick<RecheckInput, 'nowMs'>,
): BeforeVerdict {
  if (answer.kind === 'error')
    return { kind: 'cannotTell', because: `What is there now could not be read: ${withoutEnd(answer.message)}.` };
  const { envelope } = answer;
  const doubt = doubtOf(envelope, nowMs);
  if (doubt !== undefined) return { kind: 'cannotTell', because: `What is there now was read, and ${doubt}.` };
  return {
    kind: 'read',
    before: fields.map(({ name, path }) => {
      const reading = readPath(envelope.data, path);
      return { name, before: reading.kind === 'value' ? reading.value : null };
    }),
  };
}

function doubtOf({ completeness, warnings }: Envelope, nowMs: number): string | undefined {
  const [reason] = completeness.incomplete_reasons;
  if (reason !== undefined || !completeness.complete) return `the answer is incomplete (${reason?.message ?? 'nothing says why'})`;
  const warning = warnings.find((each) => forbidsEvidence(each, nowMs));
  return warning === undefined ? undefined : `the answer carries a warning that forbids to act on it (${warning.code})`;
}

function isTrue(rule: Rule, envelope: Envelope, input: RecheckInput): boolean {
  const result = rule.evaluate(ruleInput(envelope, input));
  return result.ok && result.value === true;
}

function ruleInput({ data }: Envelope, { args, nowMs }: RecheckInput): RuleInput {
  return { result: data, args, nowMs };
}

function withoutEnd(message: string): string {
  const text = message.endsWith('.') ? message.slice(0, -1) : message;
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

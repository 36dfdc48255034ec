/**
 * One expression of a contract over one answer: the only door to @bufbuild/cel and @bufbuild/re2 here.
 *
 * Expressions come from contract authors and run over hostile answers, so:
 * - `matches` is RE2 (linear time) and its pattern is a literal;
 * - every list element, map entry and kilobyte of text an evaluation touches is metered, and above
 *   limits.ruleCostMax it stops with an error: the same text over the same answer always stops at the same place;
 * - an error is a value. What it means is the caller's (contract language 2.1): an outcome rule does not match,
 *   a signal, notice, `where` or `when` makes the answer COMPLETENESS_UNPROVEN, an `expect` is false.
 *
 * Numbers of JSON are doubles, `status`, `exit`, `page.index` and `page.items` are ints. `has(x.y)` and
 * `'y' in x` are true when the member is there, also when it is null.
 * @see https://github.com/google/cel-spec/blob/v0.24.0/doc/langdef.md
 */
import {
  type CelInput,
  CelScalar,
  type CelValue,
  celEnv,
  celFunc,
  celList,
  celMethod,
  isCelError,
  listType,
  parse,
  plan,
} from '@bufbuild/cel';
import { RE2JS } from '@bufbuild/re2';
import { limits } from '#core/bounds/limits.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import type { SentRequest } from './exchange.ts';
import { checkRule } from './rule-check.ts';
import { isOverspent, refill, spend } from './rule-cost.ts';
import { toJson, view } from './rule-value.ts';

/** Where the rule stands decides which of these it may name. */
export type RuleVariable = 'status' | 'headers' | 'body' | 'exit' | 'stderr' | 'args' | 'sent' | 'page' | 'now' | 'item' | 'result';
/** For outcomes, signals, notices, `when`, waits. */
export const ANSWER_VARIABLES: readonly RuleVariable[] = ['status', 'headers', 'body', 'exit', 'stderr', 'args', 'sent', 'page', 'now'];
/** For `where`. */
export const ITEM_VARIABLES: readonly RuleVariable[] = ['item', ...ANSWER_VARIABLES];
/** For `expect`, `done` and `notDone`. */
export const RESULT_VARIABLES: readonly RuleVariable[] = ['result', 'args', 'now'];

/** Values for one evaluation; a variable not given is an error when the rule names it. */
export interface RuleInput {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonValue;
  readonly exit?: number;
  readonly stderr?: string;
  readonly args?: Readonly<Record<string, JsonValue>>;
  readonly sent?: SentRequest;
  /** `index` counts from 0 over the whole walk of this source; `items` are the raw items of this page. */
  readonly page?: { readonly index: number; readonly items: number };
  readonly nowMs?: number;
  readonly item?: JsonValue;
  readonly result?: JsonValue;
}

export type RuleResult =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly error: string; readonly tooCostly?: true };

export interface Rule {
  readonly text: string;
  /** Never throws. `error` is our own short text, without a byte of the answer. */
  evaluate(input: RuleInput): RuleResult;
}

/** `at` counts characters from the start of the expression. */
export interface RuleProblem {
  readonly kind: 'problem';
  readonly message: string;
  readonly at: number;
}

export type CompiledRule = { readonly kind: 'compiled'; readonly rule: Rule } | RuleProblem;

/** Presets repeat the same expressions in many contracts; a start parses each once. */
const compiledRules = new Map<string, CompiledRule>();

/** Expressions are the same rule where text and variables are the same. */
export function compileRule(text: string, variables: readonly RuleVariable[]): CompiledRule {
  const key = `${variables.join(' ')}\n${text}`;
  const known = compiledRules.get(key);
  if (known !== undefined) return known;
  const compiled = compileText(text, variables);
  if (compiled.kind === 'compiled' && compiledRules.size < limits.rulesKeptMax) compiledRules.set(key, compiled);
  return compiled;
}

function compileText(text: string, variables: readonly RuleVariable[]): CompiledRule {
  if (text.length > limits.ruleCharsMax)
    return { kind: 'problem', message: `longer than ${limits.ruleCharsMax} characters`, at: limits.ruleCharsMax };
  const parsed = parseRule(text);
  if (parsed.kind === 'problem') return parsed;
  const names = new Set<string>();
  const finding = checkRule(parsed.value.expr, new Set(variables), names, {
    isFunction: (name) => ENVIRONMENT.funcs.find(name) !== undefined,
    isPattern: (pattern) => patternOf(pattern) !== undefined,
  });
  if (finding !== undefined) {
    return { kind: 'problem', message: finding.message, at: parsed.value.sourceInfo?.positions[finding.id.toString()] ?? 0 };
  }
  return { kind: 'compiled', rule: ruleOf(text, parsed.value, names) };
}

const { BOOL, INT, STRING, DYN } = CelScalar;
const LIST = listType(DYN);

const patterns = new Map<string, RE2JS>();

/** Patterns are literals of accepted expressions; those beyond the kept ones are compiled anew. */
function patternOf(text: string): RE2JS | undefined {
  const known = patterns.get(text);
  if (known !== undefined) return known;
  try {
    const compiled = RE2JS.compile(text);
    if (patterns.size < limits.rulesKeptMax) patterns.set(text, compiled);
    return compiled;
  } catch {
    // Not a pattern of RE2: the compiler reports it with its place.
    return undefined;
  }
}

const ENVIRONMENT = celEnv({
  re2: {
    compile: (pattern) => ({
      test: (text) => {
        spend(1 + text.length / 32);
        return patternOf(pattern)?.test(text) ?? false;
      },
    }),
  },
  funcs: [
    celMethod('contains', STRING, [STRING], BOOL, function (part) {
      spend(1 + this.length / 1024);
      return this.includes(part);
    }),
    celFunc('size', [STRING], INT, (text) => BigInt(lengthOf(text))),
    celMethod('size', STRING, [], INT, function () {
      return BigInt(lengthOf(this));
    }),
    // The stock concatenation nests one list per `+`, so `map` over n elements recurses n deep when it is read.
    celFunc('_+_', [LIST, LIST], LIST, (left, right) => {
      spend(1 + (left.size + right.size) / 32);
      return celList([...plainValues(left), ...plainValues(right)]);
    }),
  ],
});

function* plainValues(list: { readonly size: number; get(index: number): CelValue | undefined }): Generator<CelValue> {
  for (let index = 0; index < list.size; index += 1) {
    const value = list.get(index);
    if (value !== undefined) yield value;
  }
}

function lengthOf(text: string): number {
  spend(1 + text.length / 256);
  let points = 0;
  for (const _ of text) points += 1;
  return points;
}

type Parsed = ReturnType<typeof parse>;

function parseRule(text: string): { readonly kind: 'parsed'; readonly value: Parsed } | RuleProblem {
  try {
    return { kind: 'parsed', value: parse(text) };
  } catch (error) {
    return { kind: 'problem', message: 'this is not an expression of CEL', at: offsetOf(error) };
  }
}

/** The parser's errors carry `location.start.offset`; anything else (a stack overflow of deep nesting) has no place. */
function offsetOf(error: unknown): number {
  if (!(error instanceof Error) || !('location' in error)) return 0;
  const location: unknown = error.location;
  if (typeof location !== 'object' || location === null || !('start' in location)) return 0;
  const start: unknown = location.start;
  if (typeof start !== 'object' || start === null || !('offset' in start)) return 0;
  return typeof start.offset === 'number' ? start.offset : 0;
}

function ruleOf(text: string, parsed: Parsed, names: ReadonlySet<string>): Rule {
  // Planned on first use: most rules of a contract are never asked between a start and its first answer.
  let planned: ((context: Record<string, CelInput>) => unknown) | undefined;
  const evaluate = (input: RuleInput): RuleResult => {
    refill();
    try {
      planned ??= plan(ENVIRONMENT, parsed);
      const value = planned(contextOf(input, names));
      if (!isCelError(value)) return { ok: true, value: toJson(value) };
      return isOverspent() ? TOO_COSTLY : FAILED;
    } catch {
      // Only `toJson` gets here: what the library throws inside an evaluation comes back as a value.
      return isOverspent() ? TOO_COSTLY : NO_JSON;
    }
  };
  const ofStatusAlone = names.size === 1 && names.has('status');
  return { text, evaluate: ofStatusAlone ? byStatus(evaluate) : evaluate };
}

/** Most outcome rules look at the status only, and there are fewer than a thousand of those. */
function byStatus(evaluate: (input: RuleInput) => RuleResult): (input: RuleInput) => RuleResult {
  const known = new Map<number, RuleResult>();
  return (input) => {
    if (input.status === undefined) return evaluate(input);
    const result = known.get(input.status) ?? evaluate(input);
    if (input.status >= 100 && input.status <= 999) known.set(input.status, result);
    return result;
  };
}

const TOO_COSTLY: RuleResult = { ok: false, error: 'it costs more than one expression may', tooCostly: true };
const FAILED: RuleResult = { ok: false, error: 'it does not fit the answer: a value it names is not there or has another type' };
const NO_JSON: RuleResult = { ok: false, error: 'its value is not a value of JSON' };

/** Only what the expression names is converted. */
function contextOf(input: RuleInput, names: ReadonlySet<string>): Record<string, CelInput> {
  const context: Record<string, CelInput> = Object.create(null);
  for (const name of names) {
    const value = variableOf(name, input);
    if (value !== undefined) context[name] = value;
  }
  return context;
}

function variableOf(name: string, input: RuleInput): CelInput | undefined {
  switch (name) {
    case 'status':
    case 'exit':
      return input[name] === undefined ? undefined : BigInt(input[name]);
    case 'headers':
    case 'body':
    case 'args':
    case 'item':
    case 'result':
      return view(input[name]);
    case 'stderr':
      return input.stderr;
    case 'sent':
      return input.sent === undefined ? undefined : view({ ...input.sent });
    case 'page':
      return input.page === undefined ? undefined : intMap({ ...input.page });
    case 'now':
      return input.nowMs === undefined ? undefined : timeOf(input.nowMs);
    default:
      return undefined;
  }
}

function intMap(counts: Readonly<Record<string, number>>): CelInput {
  return new Map(Object.entries(counts).map(([name, count]) => [name, BigInt(count)]));
}

const timestampOf = plan(ENVIRONMENT, parse('timestamp(text)'));

function timeOf(nowMs: number): CelInput | undefined {
  const time = timestampOf({ text: new Date(nowMs).toISOString() });
  return isCelError(time) ? undefined : time;
}

/**
 * One answer as rules see it: which time it is, what the page holds, what an expression may read.
 */
import type { JsonValue } from '#core/contract/compiled.ts';
import type { Exchange, Reply } from './exchange.ts';
import type { Rule, RuleInput } from './rule.ts';
import type { Finding, SourceWalk, WalkContext } from './source-walk.ts';

export interface Answer {
  readonly exchange: Exchange;
  readonly reply: Reply;
  /** Index of this page in the walk, from 0. */
  readonly index: number;
  /** Raw items, empty before they are read. */
  readonly items: readonly JsonValue[];
  readonly lastItem: JsonValue | undefined;
  readonly input: RuleInput;
}

export function answerOf(context: WalkContext, walk: SourceWalk, exchange: Exchange, reply: Reply, items: readonly JsonValue[]): Answer {
  return {
    exchange,
    reply,
    index: walk.pages,
    items,
    lastItem: items.at(-1),
    input: {
      status: reply.status,
      headers: reply.headers,
      args: context.args,
      sent: exchange.sent,
      page: { index: walk.pages, items: items.length },
      nowMs: remoteNowMs(reply, context.nowMs),
      ...(reply.body === undefined ? {} : { body: reply.body }),
      ...(reply.exit !== undefined && 'code' in reply.exit ? { exit: reply.exit.code } : {}),
      ...(reply.stderr === undefined ? {} : { stderr: reply.stderr }),
      ...(reply.exit === undefined || 'signal' in reply.exit ? {} : { exit: reply.exit.code }),
      ...(reply.stderr === undefined ? {} : { stderr: reply.stderr }),
    },
  };
}

/** The remote's clock where it tells it (RFC 9110 section 6.6.1), else ours: ages and resets are its statements. */
function remoteNowMs(reply: Reply, ourNowMs: number): number {
  const date = Object.hasOwn(reply.headers, 'date') ? Date.parse(reply.headers.date ?? '') : Number.NaN;
  return Number.isNaN(date) ? ourNowMs : date;
}

/**
 * Findings of a rule that could not be evaluated. Over an answer without a body it looked for one: that it is empty is
 * what its status says, and rules about headers still speak.
 */
export function unevaluated(answer: Answer, finding: Finding): readonly Finding[] {
  return answer.reply.body === undefined ? [] : [finding];
}

export type Verdict = { readonly kind: 'yes' } | { readonly kind: 'no' } | { readonly kind: 'error'; readonly finding: Finding };

/** A yes-or-no rule. An error, or a value that is neither, leaves the answer unproven under the rule's name. */
export function judge(rule: Rule, name: string, input: RuleInput): Verdict {
  const result = rule.evaluate(input);
  if (!result.ok) return { kind: 'error', finding: unproven(name, `the rule could not be evaluated: ${result.error}`) };
  if (typeof result.value !== 'boolean') return { kind: 'error', finding: unproven(name, 'the rule gave neither true nor false') };
  return result.value ? { kind: 'yes' } : { kind: 'no' };
}

export function unproven(rule: string, message: string): Finding {
  return { code: 'COMPLETENESS_UNPROVEN', origin: 'upstream', rule, message };
}

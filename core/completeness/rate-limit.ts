/**
 * How long the remote asks us to wait: the first declared source that is present and parses, measured against
 * the remote's own clock, never below the floor nor above the ceiling. So a hostile Retry-After gives a bounded
 * wait and never a busy loop (failure case HTTP-31).
 */
import type { RateLimitRules, WaitSource } from '#core/contract/compiled.ts';
import type { Answer } from './answer.ts';
import { readLocator } from './locator.ts';
import { untilMs } from './time-value.ts';

/** Milliseconds; without any usable source, the floor. */
export function waitMs(rules: RateLimitRules, answer: Answer): number {
  return bounded(rules, statedMs(rules.waits, answer) ?? retryAfterMs(answer) ?? rules.floorMs);
}

/** What Retry-After of any failing answer says; undefined when it is not there or does not parse. */
export function retryAfter(rules: RateLimitRules, answer: Answer): number | undefined {
  const stated = retryAfterMs(answer);
  return stated === undefined ? undefined : bounded(rules, stated);
}

function bounded(rules: RateLimitRules, ms: number): number {
  return Math.round(Math.min(rules.ceilingMs, Math.max(rules.floorMs, ms)));
}

function statedMs(waits: readonly WaitSource[], answer: Answer): number | undefined {
  for (const wait of waits) {
    const ms = sourceMs(wait, answer);
    if (ms !== undefined) return ms;
  }
  return undefined;
}

function sourceMs(wait: WaitSource, answer: Answer): number | undefined {
  if (wait.kind === 'fixed') return wait.ms;
  const nowMs = answer.input.nowMs ?? 0;
  if (wait.kind === 'from') {
    const reading = readLocator(wait.from, answer.exchange, answer.lastItem);
    return reading.kind === 'value' ? untilMs(reading.value, wait.unit, nowMs) : undefined;
  }
  const result = wait.cel.evaluate(answer.input);
  return result.ok ? untilMs(result.value, wait.unit, nowMs) : undefined;
}

function retryAfterMs(answer: Answer): number | undefined {
  const { headers } = answer.reply;
  const text = Object.hasOwn(headers, 'retry-after') ? headers['retry-after'] : undefined;
  return text === undefined ? undefined : untilMs(text, 'RetryAfter', answer.input.nowMs ?? 0);
}

/**
 * Notices and freshness: all of it came, but it must be read with care (primitives 10 and 16). They never make an
 * answer incomplete. Each raises a warning the contract declares, with its owner and its expiry.
 */
import { limits } from '#core/bounds/limits.ts';
import type { CompiledContract, DeclaredWarning, FreshnessRule, NoticeRule } from '#core/contract/compiled.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { WarningCode } from '#core/error/reasons.ts';
import { type Answer, judge, unevaluated } from './answer.ts';
import type { RaisedWarning } from './envelope.ts';
import { readLocator } from './locator.ts';
import type { WarningCall } from './signal.ts';
import type { Finding } from './source-walk.ts';
import { ageMs } from './time-value.ts';

export interface Noticed {
  readonly findings: readonly Finding[];
  readonly warnings: readonly WarningCall[];
}

export function readNotices(rules: readonly NoticeRule[], answer: Answer): Noticed {
  const findings: Finding[] = [];
  const warnings: WarningCall[] = [];
  for (const rule of rules) {
    const verdict = rule.when === undefined ? ({ kind: 'yes' } as const) : judge(rule.when, rule.name, answer.input);
    if (verdict.kind === 'error') findings.push(...unevaluated(answer, verdict.finding));
    if (verdict.kind === 'yes') warnings.push({ warning: rule.warning, fields: rule.fields });
  }
  return { findings, warnings };
}

/** Data older than allowed, or of an age that cannot be read: one in the future says that a clock is wrong, not that data is fresh. */
export function readFreshness(contract: CompiledContract, rules: readonly FreshnessRule[], answer: Answer): readonly RaisedWarning[] {
  const raised: RaisedWarning[] = [];
  for (const rule of rules) {
    const reading = readLocator(rule.from, answer.exchange, answer.lastItem);
    if (reading.kind === 'absent') continue;
    const nowMs = answer.input.nowMs ?? 0;
    const age = reading.kind === 'value' ? ageMs(reading.value, rule.unit, nowMs) : undefined;
    if (age !== undefined && age <= rule.maxAgeMs && age >= -limits.clockSkewMsMax) continue;
    const warning = raise(contract, { warning: rule.warning });
    raised.push(age === undefined || age < 0 ? warning : { ...warning, ...observed(age, nowMs) });
  }
  return raised;
}

/** No date has the time of an age of millions of years. */
function observed(age: number, nowMs: number): Pick<RaisedWarning, 'observed_age_ms' | 'observed_at'> {
  const at = new Date(nowMs - age);
  return { observed_age_ms: Math.round(age), ...(Number.isNaN(at.getTime()) ? {} : { observed_at: at.toISOString() }) };
}

/** A declared warning as the envelope carries it. A name nobody declared is a fault of the compiler, and still shown. */
export function raise(contract: CompiledContract, call: WarningCall): RaisedWarning {
  const declared = Object.hasOwn(contract.warnings, call.warning) ? contract.warnings[call.warning] : undefined;
  const detail = call.detail === undefined ? {} : { detail: visibleDetail(call.detail) };
  const fields = call.fields === undefined || call.fields.length === 0 ? {} : { fields: call.fields };
  if (declared === undefined)
    return {
      code: 'UPSTREAM_NOTICE',
      name: call.warning,
      message: 'the remote says that this answer must be read with care',
      ...fields,
      ...detail,
    };
  return { ...raised(declared), ...fields, ...detail };
}

/** A warning Postern raises of itself; the declared one of that code speaks for it where there is one. */
export function raiseOwn(contract: CompiledContract, code: WarningCode, message: string, fields: readonly string[]): RaisedWarning {
  const declared = Object.values(contract.warnings).find((warning) => warning.code === code);
  return { ...(declared === undefined ? { code, message } : raised(declared)), ...(fields.length === 0 ? {} : { fields }) };
}

function raised(declared: DeclaredWarning): RaisedWarning {
  return { code: declared.code, name: declared.name, message: declared.message, owner: declared.owner, expires_at: declared.expires };
}

function visibleDetail(text: string): string {
  // Cut before it is cleaned: the length of the text is the remote's choice.
  return visibleText(text.slice(0, limits.warningDetailCharsMax), { chars: limits.warningDetailCharsMax });
}

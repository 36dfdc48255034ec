/** Conditions of our objects, in Kubernetes' form. Pure. */
import { limits } from '#core/bounds/limits.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import { secondTime } from './micro-time.ts';

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** UpperCamel. */
  readonly reason: string;
  /** A sentence: what is, and what to do. */
  readonly message: string;
  /** Generation of the spec that was judged; left out where the condition is not about the spec. */
  readonly observedGeneration?: number;
  /** When `status` last changed. */
  readonly lastTransitionTime: string;
}

/** What a controller found, without a time. */
export type Finding = Omit<Condition, 'lastTransitionTime'>;

/**
 * The findings as conditions, sorted by type. The time of one whose status did not change stays; a message is sanitized and cut.
 * Of two findings of one type the later holds.
 */
export function conditionsOf(findings: readonly Finding[], was: readonly Condition[], wallMs: number): readonly Condition[] {
  const byType = new Map(findings.map((finding) => [finding.type, finding]));
  const conditions = [...byType.values()].map((finding) => {
    const before = was.find(({ type }) => type === finding.type);
    const lastTransitionTime = before?.status === finding.status ? before.lastTransitionTime : secondTime(wallMs);
    return { ...finding, message: visibleText(finding.message, { chars: limits.conditionMessageCharsMax }), lastTransitionTime };
  });
  return conditions.sort((a, b) => (a.type < b.type ? -1 : 1));
}

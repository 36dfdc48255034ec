/**
 * Signals that must be there at all (primitive 8): without them a clean answer proves nothing. A value of null is
 * there; a link without its parameter is not.
 */
import type { RequiredRule } from '#core/contract/compiled.ts';
import { type Answer, unproven } from './answer.ts';
import { readLocator } from './locator.ts';
import type { Finding } from './source-walk.ts';

/** `isLast`: this page ends the walk. Of an answer without a body only what stands in headers can be demanded. */
export function readRequired(rules: readonly RequiredRule[], answer: Answer, isLast: boolean, bodiless: boolean): readonly Finding[] {
  const findings: Finding[] = [];
  for (const rule of rules) {
    if (rule.read === 'FirstPage' && answer.index > 0) continue;
    if (rule.read === 'LastPage' && !isLast) continue;
    if (bodiless && rule.anyOf.some(({ kind }) => kind === 'body' || kind === 'lastItem')) continue;
    const there = rule.anyOf.some((locator) => readLocator(locator, answer.exchange, answer.lastItem).kind === 'value');
    if (there) continue;
    const finding = unproven(rule.name, 'the answer lacks a signal that the contract requires');
    findings.push(rule.then === undefined ? finding : { ...finding, wayOn: rule.then });
  }
  return findings;
}

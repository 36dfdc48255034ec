/**
 * Targets that this session itself acted on after it had looked at them: what the look showed is not so any more, so the evidence is no
 * evidence for them (promise P7). Without this, one list that shows a thing to be absent would make it as often as it is shown again.
 *
 * Seen as far as the journal remembers, and for effects of the same contract: what another one does to a target is for a recheck.
 */
import { isList, isObject, memberOf, scalarText } from '#core/completeness/path.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import type { ArgumentPath } from '#core/contract/effect-rules.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Entry } from '#sidecar/journal/entry.ts';
import type { Journal } from '#sidecar/journal/journal.ts';
import { shownPlan } from './kept-plan.ts';
import type { EffectPlan } from './plan.ts';

/** Undefined where the evidence still stands, and for a plan without any, or whose read is made again right before it. */
export function actedOnError(plan: EffectPlan, journal: Journal): PosternError | undefined {
  const { name, effects } = plan.served.contract;
  const seenMs = plan.facts.evidence?.atMs;
  if (effects.evidence === undefined || seenMs === undefined || plan.readAgain !== undefined) return undefined;
  const { ids } = effects.evidence;
  const targets = new Set(idsAt(plan.args, ids));
  for (const entry of journal.list()) {
    if (entry.record.contract !== name || entry.record.operationId === plan.operationId || (entry.endedAtMs ?? seenMs) < seenMs) continue;
    const again = actedOn(entry, ids).find((id) => targets.has(id));
    if (again !== undefined) return staleError(again, entry.record.operationId);
  }
  return undefined;
}

/** Those whose request may have taken effect: of a `forEach` over them one each, of any other effect all. */
function actedOn({ steps, resolution, record, ...rest }: Entry, path: ArgumentPath): readonly string[] {
  const { facts, each } = shownPlan({ steps, record, ...rest });
  const ids = idsAt(facts.args, path);
  const touched = steps.filter(({ state }) => state !== 'notDone' && (state === 'done' || resolution?.verdict !== 'notDone'));
  if (touched.length === 0) return [];
  if (each === undefined || each.join('/') !== path.join('/')) return ids;
  return touched.flatMap(({ index }) => ids[index] ?? []);
}

function idsAt(args: EffectPlan['args'], path: ArgumentPath): readonly string[] {
  const value = path.reduce<JsonValue | undefined>((held, name) => (isObject(held) ? memberOf(held, name) : undefined), args);
  if (value === undefined) return [];
  return (isList(value) ? value : [value]).map((each) => scalarText(each) ?? '');
}

function staleError(id: string, operationId: string): PosternError {
  const shown = visibleText(id, { chars: 64 });
  return new PosternError('EVIDENCE_EXPIRED', `This action acted on ${shown} after the evidence was read. Read again and call again.`, {
    details: { operation_id: operationId },
  });
}

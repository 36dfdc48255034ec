/** How far one approval reaches: stated only where it reaches further than its call, and never to a target nobody saw (promise P3). */
import type { Draft, SlotUse } from './draft.ts';
import type { ArgumentPath, EffectRules, EvidenceRules } from './effect-rules.ts';
import { showPath } from './spec-path.ts';

export function checkRange(draft: Draft, effects: EffectRules): void {
  const { approval } = effects;
  const node = draft.spec.at('approval');
  if (approval.mode !== 'Session') {
    for (const name of ['calls', 'vary']) {
      if (node.at(name).present) node.at(name).problem('approval-range', `${name} says nothing about approval ${approval.mode}.`);
    }
    return;
  }
  for (const [index, place] of node.at('vary').list().entries()) {
    const path = approval.vary[index] ?? [];
    const because = targetOf(draft, effects, path);
    if (because !== undefined) place.problem('approval-vary', `/${path.join('/')} ${because}.`);
  }
}

function targetOf(draft: Draft, { evidence, forEach }: EffectRules, path: ArgumentPath): string | undefined {
  const use = draft.uses.find((each) => decidesTarget(draft, each) && touches(each, path, forEach?.argument));
  if (use !== undefined) return `reaches ${use.slot.text} in ${showPath(use.path)}`;
  if (forEach !== undefined && overlaps(forEach.argument, path)) return 'names the targets of forEach';
  const isProof = evidence !== undefined && provenBy(evidence).some((name) => overlaps(name, path));
  return isProof ? 'is what the evidence is asked for' : undefined;
}

/**
 * Whether the slot stands where it decides what the call is about. Path and query of a Read are its question, which a range may leave open
 * ("any customer, 20 calls"); those of a write name what is changed. What looks a fixed value up decides more than its label shows.
 */
function decidesTarget(draft: Draft, { slot, position, stage }: SlotUse): boolean {
  if (stage === 'words') return false;
  if (['recheck', 'settle', 'prepare'].includes(stage) || slot.root === 'resolve') return true;
  if (['host', 'credential', 'argv', 'select', 'header'].includes(position)) return true;
  if (position === 'segment' || position === 'query') return draft.spec.at('effect').value !== 'Read';
  // A forced command reads what it does from its input.
  return stage === 'ssh' && draft.spec.at('ssh').at('shell').value === 'ForcedCommand';
}

function touches({ slot }: SlotUse, path: ArgumentPath, elements: ArgumentPath | undefined): boolean {
  if (slot.root === 'args') return overlaps(slot.path, path);
  if (slot.root === 'resolve') return overlaps(slot.path.slice(0, 1), path);
  return slot.root === 'each' && elements !== undefined && overlaps(elements, path);
}

function provenBy({ ids, match }: EvidenceRules): readonly ArgumentPath[] {
  return [ids, ...match.flatMap(({ given }) => (given.kind === 'argument' ? [[given.argument]] : []))];
}

/** One holds the other. */
function overlaps(one: readonly string[], other: readonly string[]): boolean {
  const length = Math.min(one.length, other.length);
  return length > 0 && one.slice(0, length).every((name, index) => name === other[index]);
}

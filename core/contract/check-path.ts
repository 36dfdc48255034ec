/**
 * Refuses the contract that is no named action but a way to call anything: a path the agent writes, with a credential attached
 * (failure case HTTP-05).
 */
import type { RequestTemplate, Slot, Template } from './compiled.ts';
import type { Draft } from './draft.ts';
import { type Declared, isUnknown, kindOf } from './slot-kind.ts';
import { singleSlot } from './template-text.ts';

/** `path` is where the request is written. */
export function checkPath(draft: Draft, path: readonly string[], request: RequestTemplate, declared: Declared): void {
  const at = [...path, 'url'];
  const segments = request.segments.map((segment) => segmentKind(segment, declared));
  const fixed = segments.filter((kind) => kind === 'fixed').length;
  const chosen = segments.filter((kind) => kind === 'chosen').length;
  if (segments.length > 0 && fixed === 0 && segments.some((kind) => kind !== 'label')) {
    draft.report.add(at, 'url-whole-path-slot', 'No segment of the path is fixed.');
  } else if (chosen > fixed) {
    draft.report.add(at, 'call-anything', `${chosen} segments are free text and ${fixed} are fixed.`);
  }
  const spread = request.segments.findIndex((segment) => singleSlot(segment)?.spread === true);
  if (spread >= 0 && !segments.slice(0, spread).includes('fixed')) {
    draft.report.add(at, 'url-spread', 'A spread slot has no fixed segment before it.');
  }
}

/** `label`: one of values the contract lists. `bound`: by a pattern, a type or the remote. `chosen`: any text the agent likes. */
function segmentKind(segment: Template, declared: Declared): 'fixed' | 'label' | 'bound' | 'chosen' {
  const slot = singleSlot(segment);
  if (slot === undefined || slot.root === 'constants') return 'fixed';
  if (slot.root === 'resolve' || slot.root === 'source') return 'label';
  return slot.root === 'args' || slot.root === 'each' ? agentKind(slot, declared) : 'bound';
}

function agentKind(slot: Slot, declared: Declared): 'label' | 'bound' | 'chosen' {
  const kind = kindOf(slot, declared);
  if (isUnknown(kind)) return 'bound';
  if (kind.chosen || kind.items?.chosen === true) return 'chosen';
  return kind.inert && kind.shape === 'text' && kind.format === undefined ? 'label' : 'bound';
}

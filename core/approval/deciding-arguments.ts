/**
 * Arguments that decide where an effect lands: those the destination is made of, those that stand for fixed values, the targets themselves.
 * They stand first on a card, and no yes for several calls lets them differ.
 */
import type { CompiledContract, JsonTemplate, Slot, Template } from '#core/contract/compiled.ts';

/** Slots of the destination, in its order: credential and path, or host and argv. */
export function destinationSlots({ target }: CompiledContract): readonly Slot[] {
  const templates: readonly Template[] =
    target.kind === 'http' ? [target.credential, ...target.request.segments] : [target.host, ...target.argv, ...jsonSlots(target.stdin)];
  return templates.flat().filter((part): part is Slot => typeof part === 'object');
}

/** Names of top-level arguments. */
export function decidingArguments(contract: CompiledContract): ReadonlySet<string> {
  const { effects, resolve } = contract;
  const names = destinationSlots(contract).flatMap(({ root, path }) => (root === 'args' || root === 'resolve' ? path.slice(0, 1) : []));
  const targets = [effects.forEach?.argument[0], effects.evidence?.ids[0]].filter((name) => name !== undefined);
  return new Set([...names, ...Object.keys(resolve), ...targets]);
}

/** A forced command reads its whole call from standard input: nothing else says where it lands. */
function jsonSlots(template: JsonTemplate | undefined): readonly Template[] {
  switch (template?.kind) {
    case 'slot':
      return [[template.slot]];
    case 'text':
      return [template.template];
    case 'list':
      return template.items.flatMap(jsonSlots);
    case 'object':
      return template.members.flatMap(([, member]) => jsonSlots(member));
    default:
      return [];
  }
}

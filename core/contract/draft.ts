/**
 * A contract on its way through the compiler: the merged spec to read, the report to write to, and every slot seen so far with the
 * place it stands in. Slots are judged once all declarations are known, so that the order of fields says nothing.
 */
import type { Slot, Template } from './compiled.ts';
import type { Report } from './report.ts';
import type { ResourceObject } from './resource-object.ts';
import { parseTemplate, slotsOf } from './slot.ts';
import type { SpecNode } from './spec-node.ts';
import type { SpecPath } from './spec-path.ts';

/** Where a slot's value is put. `words` are sentences for people. */
export type Position =
  | 'segment'
  | 'query'
  | 'form'
  | 'header'
  | 'json'
  | 'text'
  | 'argv'
  | 'host'
  | 'credential'
  | 'initial'
  | 'select'
  | 'words'
  | 'given';

/** Which request, or what else, the slot is part of: decides which roots have a value. */
export type Stage = 'main' | 'open' | 'next' | 'close' | 'ssh' | 'words' | 'recheck' | 'settle' | 'prepare';

export interface SlotUse {
  readonly slot: Slot;
  readonly path: SpecPath;
  readonly position: Position;
  readonly stage: Stage;
  /** Other text, or another slot, stands beside it. */
  readonly composed: boolean;
}

export interface Draft {
  readonly object: ResourceObject;
  /** The merged spec with defaults, at path `spec`. */
  readonly spec: SpecNode;
  readonly report: Report;
  readonly uses: SlotUse[];
}

/** The template at a node; its slots are remembered, its faults reported. */
export function templateAt(draft: Draft, node: SpecNode, position: Position, stage: Stage): Template {
  return rememberTemplate(draft, node, node.text(), position, stage);
}

export function rememberTemplate(draft: Draft, node: SpecNode, text: string, position: Position, stage: Stage): Template {
  const { template, faults } = parseTemplate(text);
  for (const fault of faults) node.problem(fault.code, fault.message, { nearest: fault.nearest });
  for (const slot of slotsOf(template)) {
    draft.uses.push({ slot, path: node.path, position, stage, composed: template.length > 1 });
  }
  return template;
}

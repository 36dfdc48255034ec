/**
 * The rules of slots: is there a value in this place, of this type, and can it do no harm where it stands (contract language 2.1,
 * typing and composed text)?
 */
import type { SlotRoot } from './compiled.ts';
import type { Draft, SlotUse, Stage } from './draft.ts';
import { fixedValueFault } from './fixed-value.ts';
import { type Declared, isUnknown, kindOf, type SlotKind } from './slot-kind.ts';

export function checkSlots(draft: Draft, declared: Declared): void {
  for (const use of draft.uses) {
    const here = ROOTS[use.stage];
    const { root, text } = use.slot;
    if (!here.includes(root) || (use.position === 'initial' && root === 'next')) {
      draft.report.add(use.path, 'slot-root-here', `${text} has no value here; ${here.join(', ')} have.`);
      continue;
    }
    const kind = kindOf(use.slot, declared, use.stage === 'next');
    if (isUnknown(kind)) {
      draft.report.add(use.path, 'slot-unknown-name', kind.message, { nearest: kind.nearest });
      continue;
    }
    for (const rule of RULES) rule(draft, use, kind);
  }
}

const SHARED: readonly SlotRoot[] = ['args', 'resolve', 'constants', 'limits', 'budget', 'operation', 'source', 'each'];
const ROOTS: Readonly<Record<Stage, readonly SlotRoot[]>> = {
  main: [...SHARED, 'next', 'open'],
  next: [...SHARED, 'next', 'open'],
  close: [...SHARED, 'next', 'open'],
  open: SHARED,
  ssh: SHARED,
  // Resolved values are for the executor and the approver; a sentence is read by the agent (contract language, section 5, point 30).
  words: ['args', 'constants'],
  recheck: ['args', 'each', 'constants', 'operation'],
  settle: ['args', 'each', 'constants', 'operation'],
  // Read once for the whole card, so there is no element yet.
  prepare: ['args', 'constants'],
};

type Rule = (draft: Draft, use: SlotUse, kind: SlotKind) => void;

const RULES: readonly Rule[] = [checkFormat, checkType, checkOptional, checkInert, checkFreeText, checkLimitIsSet, checkFixedValues];

function checkFormat(draft: Draft, use: SlotUse, kind: SlotKind): void {
  const { format, text } = use.slot;
  if (format === undefined) return;
  const add = (wanted: string) => draft.report.add(use.path, 'slot-format-type', `${text}: ${format} needs ${wanted}.`);
  if (format === 'csv') {
    if (kind.shape !== 'list' || kind.items?.shape === 'object' || kind.items?.shape === 'list') add('a list of texts or numbers');
  } else if (format === 'base64' || format === 'githubPhrase' || format === 'jqlString') {
    if (kind.shape !== 'text') add('a text');
  } else if (kind.format !== 'date-time' && kind.format !== 'date') add('an argument with format: date-time or date');
}

/** Lists repeat a parameter or become words of their own; maps stand only in JSON. */
function checkType(draft: Draft, use: SlotUse, kind: SlotKind): void {
  const { slot, position, composed } = use;
  if (position === 'json' && !composed) return;
  if (['words', 'select', 'initial'].includes(position)) return;
  const list = kind.shape === 'list' && slot.format !== 'csv';
  const add = (what: string) => draft.report.add(use.path, 'slot-type', `${slot.text} is ${what}, which cannot stand here.`);
  if (slot.spread === true) checkSpread(draft, use, kind);
  else if (kind.shape === 'object') add('a map');
  else if (list && (composed || !['query', 'form', 'argv'].includes(position))) add('a list');
  else if (list && kind.items !== undefined && ['object', 'list'].includes(kind.items.shape)) add('a list of lists or maps');
}

function checkSpread(draft: Draft, use: SlotUse, kind: SlotKind): void {
  const element = kind.shape === 'list' ? kind.items?.shape : kind.shape;
  if (use.position !== 'segment')
    draft.report.add(use.path, 'url-spread', `${use.slot.text} spreads over path segments, and there are none here.`);
  else if (element !== 'text' && element !== 'number') draft.report.add(use.path, 'slot-type', `${use.slot.text} is no list of texts.`);
}

function checkOptional(draft: Draft, use: SlotUse, kind: SlotKind): void {
  const { position, composed, slot } = use;
  if (!kind.optional || position === 'words') return;
  const fixedPlace = ['segment', 'argv', 'host', 'credential', 'text'].includes(position);
  const fromAgent = slot.root === 'args' || slot.root === 'resolve';
  if ((fixedPlace && (fromAgent || slot.root === 'next')) || (composed && fromAgent)) {
    draft.report.add(use.path, 'slot-optional', `${slot.text} may be absent, and nothing here can be left out.`);
  }
}

const QUOTING = ['base64', 'githubPhrase', 'jqlString'];
const DIGITS = ['epochSeconds', 'epochMillis', 'date'];

/** The composed-text rule: beside other text a value must be provably inert, or quoted by its format. */
function checkInert(draft: Draft, use: SlotUse, kind: SlotKind): void {
  const { slot, position, composed } = use;
  const alone = !composed && position !== 'text';
  if (alone || position === 'words' || position === 'segment') return;
  const format = slot.format ?? '';
  const quoted = QUOTING.includes(format) || DIGITS.includes(format) || (format === 'csv' && kind.items?.inert === true);
  if (quoted || kind.inert) return;
  const code = position === 'text' ? 'body-text' : 'slot-not-inert';
  draft.report.add(use.path, code, `${slot.text} is not provably inert, so it may not stand inside of other text.`);
}

function checkFreeText(draft: Draft, use: SlotUse, kind: SlotKind): void {
  const free = kind.free || kind.items?.free === true;
  if (!free || ['form', 'json', 'words'].includes(use.position)) return;
  if (use.position === 'query' && QUOTING.includes(use.slot.format ?? '')) return;
  draft.report.add(use.path, 'slot-free-text', `${use.slot.text} is free text.`);
}

function checkLimitIsSet(draft: Draft, use: SlotUse): void {
  if (use.slot.root !== 'limits' || use.slot.path[0] !== 'pageSize') return;
  if (draft.spec.at('completeness').at('limits').at('pageSize').present) return;
  draft.report.add(use.path, 'slot-unset', `${use.slot.text} has no value: the contract sets no pageSize.`);
}

function checkFixedValues(draft: Draft, use: SlotUse, kind: SlotKind): void {
  for (const { value, path } of kind.fixed ?? []) {
    const fault = fixedValueFault(value, use);
    if (fault !== undefined) draft.report.add(path, 'slot-value', `The value ${fault}; ${use.slot.text} puts it there.`);
  }
}

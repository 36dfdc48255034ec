/**
 * Slots and templates of the contract language (section 2.1): `$(root.path|format)` inside literal text.
 *
 * - `$$(` is a literal `$(`; a lone `$` is a `$`.
 * - `$(args.path...)` stands for several path segments, each checked alone.
 * - Only `args` and `each` carry the agent's bytes; a reviewer sees which from the root alone.
 *
 * The grammar is parsed once, here; nothing scans a value for slots at run time, so that no argument,
 * constant or answer can smuggle one in.
 */
import type { Slot, SlotFormat, SlotRoot, Template } from './compiled.ts';
import { nearestName } from './nearest.ts';

export const SLOT_ROOTS: readonly SlotRoot[] = [
  'args',
  'resolve',
  'next',
  'open',
  'source',
  'each',
  'operation',
  'limits',
  'budget',
  'constants',
];
export const SLOT_FORMATS: readonly SlotFormat[] = ['epochSeconds', 'epochMillis', 'date', 'csv', 'base64', 'githubPhrase', 'jqlString'];

/** What is wrong inside one `$(...)`; the caller adds where it stands. */
export interface SlotFault {
  readonly code: 'slot-malformed' | 'slot-unknown-root' | 'slot-unknown-format';
  readonly message: string;
  readonly nearest?: string;
}

/** How many names follow each root: `[least, most]`. */
const PATH_LENGTH: Readonly<Record<SlotRoot, readonly [number, number]>> = {
  args: [1, 8],
  resolve: [2, 2],
  next: [1, 1],
  open: [1, 1],
  source: [1, 1],
  each: [0, 0],
  operation: [1, 1],
  limits: [1, 1],
  budget: [1, 1],
  constants: [1, 8],
};

const INSIDE = /^(?<root>[A-Za-z]+)(?<path>(?:\.[A-Za-z0-9_-]+)*)(?<spread>\.\.\.)?(?:\|(?<format>[A-Za-z0-9]+))?$/;

/**
 * Literal text and slots in order, empty literals left out. A text without a slot is one literal; the empty text is no part at all.
 * Every fault of the text is returned; a faulty slot is left out of the template.
 */
export function parseTemplate(text: string): { readonly template: Template; readonly faults: readonly SlotFault[] } {
  const parts: (string | Slot)[] = [];
  const faults: SlotFault[] = [];
  let literal = '';
  const flush = () => {
    if (literal !== '') parts.push(literal);
    literal = '';
  };
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '$$(') literal += '$(';
    else if (!token.startsWith('$(')) literal += token;
    else {
      const slot = parseSlot(token);
      if ('code' in slot) faults.push(slot);
      else {
        flush();
        parts.push(slot);
      }
    }
  }
  flush();
  return { template: parts, faults };
}

/** An escaped opening, a slot (closed or not), a lone `$`, or text; each character belongs to exactly one token. */
const TOKEN = /\$\$\(|\$\([^)]*\)?|\$|[^$]+/g;

export function slotsOf(template: Template): readonly Slot[] {
  return template.filter((part) => typeof part !== 'string');
}

function parseSlot(written: string): Slot | SlotFault {
  if (!written.endsWith(')')) return { code: 'slot-malformed', message: `The slot ${written} is not closed with ).` };
  const groups = INSIDE.exec(written.slice(2, -1))?.groups;
  if (groups === undefined) return { code: 'slot-malformed', message: `${written} is not $(root.name) or $(root.name|format).` };
  const root = SLOT_ROOTS.find((each) => each === groups.root);
  if (root === undefined) return unknownRoot(written, groups.root ?? '');
  const path = (groups.path ?? '').split('.').slice(1);
  const [least, most] = PATH_LENGTH[root];
  if (path.length < least || path.length > most) {
    return { code: 'slot-malformed', message: `${written} needs ${wanted(root)}.` };
  }
  if (groups.spread !== undefined && root !== 'args') {
    return { code: 'slot-malformed', message: `${written} spreads, and only an argument may stand for several path segments.` };
  }
  const format = SLOT_FORMATS.find((each) => each === groups.format);
  if (groups.format !== undefined && format === undefined) return unknownFormat(written, groups.format);
  return {
    root,
    path,
    ...(format === undefined ? {} : { format }),
    ...(groups.spread === undefined ? {} : { spread: true as const }),
    text: written,
  };
}

function wanted(root: SlotRoot): string {
  if (root === 'each') return 'no name: write $(each)';
  if (root === 'resolve') return 'an argument and a member: $(resolve.argument.member)';
  return `a name: $(${root}.name)`;
}

function unknownRoot(written: string, root: string): SlotFault {
  const nearest = nearestName(root, SLOT_ROOTS);
  const message = `${written} starts with ${JSON.stringify(root)}, which is none of ${SLOT_ROOTS.join(', ')}.`;
  return { code: 'slot-unknown-root', message, ...(nearest === undefined ? {} : { nearest }) };
}

function unknownFormat(written: string, format: string): SlotFault {
  const nearest = nearestName(format, SLOT_FORMATS);
  const message = `${written} asks for the format ${JSON.stringify(format)}, which is none of ${SLOT_FORMATS.join(', ')}.`;
  return { code: 'slot-unknown-format', message, ...(nearest === undefined ? {} : { nearest }) };
}

/**
 * Fixed values (resolve, constants, sources) are judged when the contract is compiled: each must be legal where its slot stands, so that
 * no call can fail on the contract's own words.
 */
import type { JsonValue } from './compiled.ts';
import type { Position, SlotUse } from './draft.ts';
import { isHeaderText } from './header-rules.ts';

/** Begins a sentence that ends "where $(slot) stands.", or nothing when the value is legal. */
export function fixedValueFault(value: JsonValue, use: SlotUse): string | undefined {
  const { position, composed } = use;
  if ((position === 'json' && !composed) || UNJUDGED.includes(position)) return undefined;
  if (typeof value === 'object') return `${value === null ? 'null' : 'A list or map'} cannot stand`;
  const text = String(value);
  return text.isWellFormed() ? textFault(text, use) : 'Half of a surrogate pair cannot stand';
}

function textFault(text: string, { position, composed }: SlotUse): string | undefined {
  switch (position) {
    case 'segment':
      return segmentFault(text);
    case 'host':
      return HOST.test(text) ? undefined : 'Only a canonical host can stand';
    case 'header':
      return isHeaderText(composed ? text.trim() : text) ? undefined : 'Only visible ASCII can stand';
    case 'query':
    case 'argv':
      return /\p{Cc}/u.test(text) ? 'A control character cannot stand' : undefined;
    default:
      // A tab or line break is fine in a body.
      return undefined;
  }
}

const UNJUDGED: readonly Position[] = ['initial', 'words', 'credential'];
const HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[1-9][0-9]{0,4})?$/;

function segmentFault(text: string): string | undefined {
  if (text === '') return 'An empty text cannot stand';
  if (/^(?:\.|%2e){1,2}(?:;.*)?$/i.test(text)) return 'A dot segment cannot stand';
  return /[\p{C}\u2028\u2029\\]/u.test(text) ? 'A control character or backslash cannot stand' : undefined;
}

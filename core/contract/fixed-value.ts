/**
 * Fixed values (resolve, constants, sources) are judged when the contract is compiled, by the very formats and encoders that calls will
 * use: no call can fail on the contract's own words.
 */
import type { JsonValue } from './compiled.ts';
import type { Position, SlotUse } from './draft.ts';
import { isMisfit, type Misfit, strictEncoders, textOf } from './encode.ts';
import { applyFormat } from './slot-format.ts';

/** Continues "The value ...", or nothing when the value is legal where its slot stands. */
export function fixedValueFault(value: JsonValue, use: SlotUse): string | undefined {
  const { position, composed, slot } = use;
  if (UNJUDGED.includes(position)) return undefined;
  const shown = slot.format === undefined ? value : applyFormat(slot.format, value);
  if (isMisfit(shown)) return shown.why;
  if (position === 'json' && !composed) return undefined;
  const text = textOf(shown);
  if (isMisfit(text)) return text.why;
  const encoded = encodedAt(position, composed ? text.trim() : text);
  return isMisfit(encoded) ? encoded.why : undefined;
}

function encodedAt(position: Position, text: string): string | Misfit {
  switch (position) {
    case 'segment':
    case 'query':
    case 'header':
    case 'form':
      return strictEncoders[position](text);
    case 'host':
      return HOST.test(text) ? text : { rule: 'reserved', why: 'must be a canonical host' };
    case 'argv':
      return /\p{Cc}/u.test(text) ? { rule: 'control', why: 'must not contain control characters' } : text;
    default:
      return text;
  }
}

const UNJUDGED: readonly Position[] = ['initial', 'words', 'credential'];
const HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[1-9][0-9]{0,4})?$/;

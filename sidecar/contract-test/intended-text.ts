/**
 * Whether a text that arrived is the one a template means, told by reading it and not by writing it again: quoted
 * words are unquoted, lists are split, numbers are read, and each must give the argument back, with nothing left over.
 */
import { isObject } from '#core/completeness/path.ts';
import type { JsonValue, Slot, Template } from '#core/contract/compiled.ts';
import type { SlotValues } from '#core/contract/slot-value.ts';

/** The value a slot stands for before its format; `undefined` when absent. */
export function slotMeaning(slot: Slot, values: SlotValues): JsonValue | undefined {
  if (slot.root === 'each') return follow(values.each, slot.path);
  if (slot.root !== 'resolve') return follow(values[slot.root], slot.path);
  const [argument = '', ...member] = slot.path;
  const label = follow(values.args, [argument]);
  const meaning = (one: JsonValue) => follow(follow(values.resolve[argument], [String(one)]), member);
  if (Array.isArray(label)) return (label as readonly JsonValue[]).flatMap((one) => meaning(one) ?? []);
  return label === undefined ? undefined : meaning(label);
}

/** `true`, or what does not fit. `template` with an absent slot means that nothing may arrive: see `isAbsent`. */
export function meansText(template: Template, text: string, values: SlotValues): true | string {
  let rest = text;
  for (const part of template) {
    const left = typeof part === 'string' ? afterLiteral(part, rest) : afterSlot(part, slotMeaning(part, values), rest);
    if (left === null)
      return typeof part === 'string' ? 'the fixed text around a value changed' : `${part.text} does not read back as its value`;
    rest = left;
  }
  return rest === '' ? true : 'more text arrived than was meant';
}

export function isAbsent(template: Template, values: SlotValues): boolean {
  return template.some((part) => typeof part !== 'string' && slotMeaning(part, values) === undefined);
}

export function onlySlot(template: Template): Slot | undefined {
  const [first] = template;
  return template.length === 1 && typeof first === 'object' ? first : undefined;
}

function afterLiteral(literal: string, text: string): string | null {
  return text.startsWith(literal) ? text.slice(literal.length) : null;
}

/** The text behind the slot's part, or `null` when that part is not the value. */
function afterSlot(slot: Slot, value: JsonValue | undefined, text: string): string | null {
  if (value === undefined) return null;
  switch (slot.format) {
    case 'githubPhrase':
      return afterQuoted(String(value), text, false);
    case 'jqlString':
      return afterQuoted(String(value), text, true);
    case 'csv':
      return afterList(Array.isArray(value) ? (value as readonly JsonValue[]) : [value], text);
    case 'base64':
      return afterLiteral(toBase64(String(value)), text);
    case 'date':
    case 'epochSeconds':
    case 'epochMillis':
      return afterTime(slot.format, value, text);
    default:
      return isScalar(value) ? afterLiteral(String(value), text) : null;
  }
}

/** Reads one quoted text. Without escapes a backslash inside is a fault, for some readers would take it as one. */
function afterQuoted(value: string, text: string, escapes: boolean): string | null {
  if (!text.startsWith('"')) return null;
  let read = '';
  for (let at = 1; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') return read === value && !CONTROL.test(read) ? text.slice(at + 1) : null;
    if (character === '\\') {
      if (!escapes) return null;
      at += 1;
    }
    read += text[at] ?? '';
  }
  return null;
}

function afterList(values: readonly JsonValue[], text: string): string | null {
  const elements = values.map(String);
  // A comma or a quote inside an element makes another list of it.
  if (elements.some((element) => element === '' || /[,"]/.test(element) || CONTROL.test(element))) return null;
  return afterLiteral(elements.join(','), text);
}

function afterTime(format: 'date' | 'epochSeconds' | 'epochMillis', value: JsonValue, text: string): string | null {
  const parts = (format === 'date' ? /^\d{4}-\d\d-\d\d/ : /^-?\d+/).exec(text);
  if (parts === null) return null;
  const meantMs = Date.parse(String(value));
  const readMs = format === 'date' ? Date.parse(parts[0]) : Number(parts[0]) * (format === 'epochSeconds' ? 1000 : 1);
  const holds = format === 'date' ? meantMs >= readMs && meantMs < readMs + DAY_MS : meantMs === readMs;
  return holds ? text.slice(parts[0].length) : null;
}

/** RFC 4648 section 4, written out: the library's encoder is what is being checked. */
function toBase64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let encoded = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const group = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    const digits = [18, 12, 6, 0].map((shift) => BASE64[(group >> shift) & 63] ?? '');
    encoded += digits
      .slice(0, bytes.length - at + 1)
      .join('')
      .padEnd(4, '=');
  }
  return encoded;
}

function follow(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let found = value;
  for (const name of path) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  return found;
}

function isScalar(value: JsonValue): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

const DAY_MS = 86_400_000;
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is what it is for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

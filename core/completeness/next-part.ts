/**
 * The values that go back with the next request (primitives 4 and 5), and what each of them says about the end.
 *
 * A part votes only where the contract lists how an end is written (`end.nextIs`): a cursor that is there on the
 * last page, as GraphQL's is, then says nothing. A part computed from the last item never votes.
 */
import type { JsonValue, NextEnd, NextPart, PagingRules } from '#core/contract/compiled.ts';
import type { Answer } from './answer.ts';
import { readLocator } from './locator.ts';
import { isList, isObject, type Locator, type Reading, sameValue } from './path.ts';

export interface PartsRead {
  /** Values for the next request. */
  readonly next: Readonly<Record<string, JsonValue>>;
  /**
   * `end`, `more`: the remote says so. `silent`: a value and no statement. `missing`: neither an end nor a value.
   * `half`: one part of a tuple without the other. `unusable`: there, but not what was promised.
   * `repeated`: exactly what was sent.
   */
  readonly says: 'end' | 'more' | 'silent' | 'missing' | 'half' | 'unusable' | 'repeated';
  /** A link to a next page is there; an empty or short page does not beat it. */
  readonly linked: boolean;
}

interface PartRead {
  readonly part: NextPart;
  readonly says: 'end' | 'more' | 'silent' | 'missing' | 'unusable' | 'repeated';
  readonly value: JsonValue | undefined;
  readonly linked: boolean;
}

export function readParts(paging: PagingRules, sent: Readonly<Record<string, JsonValue>>, answer: Answer): PartsRead | undefined {
  if (paging.next.length === 0) return undefined;
  const parts = paging.next.map((part) => readPart(part, paging.end.nextIs, sent[part.name], answer));
  const next: Record<string, JsonValue> = Object.create(null);
  for (const { part, value } of parts) if (value !== undefined) next[part.name] = value;
  return { next, says: together(parts), linked: parts.some(({ linked }) => linked) };
}

function readPart(part: NextPart, ends: readonly NextEnd[], sent: JsonValue | undefined, answer: Answer): PartRead {
  const { reading, locator } = firstOf(part.from, answer);
  const computed = locator?.kind === 'lastItem';
  if (reading.kind === 'unusable') return { part, says: 'unusable', value: undefined, linked: false };
  if (reading.kind === 'absent' && part.from.every(({ kind }) => kind === 'lastItem'))
    return { part, says: 'silent', value: undefined, linked: false };
  const end = endOf(reading, sent);
  if (end !== undefined && ends.includes(end)) return { part, says: 'end', value: undefined, linked: false };
  if (end === 'SameAsSent') return { part, says: 'repeated', value: sent, linked: false };
  if (end !== undefined || reading.kind === 'absent') return { part, says: 'missing', value: undefined, linked: false };
  return { part, says: computed || ends.length === 0 ? 'silent' : 'more', value: reading.value, linked: locator?.kind === 'link' };
}

function firstOf(locators: readonly Locator[], answer: Answer): { readonly reading: Reading; readonly locator: Locator | undefined } {
  for (const locator of locators) {
    const reading = readLocator(locator, answer.exchange, answer.lastItem);
    if (reading.kind !== 'absent') return { reading, locator };
  }
  return { reading: { kind: 'absent' }, locator: undefined };
}

/** Which spelling of an end this value is, whether or not the contract takes it for one. */
export function endOf(reading: Reading, sent: JsonValue | undefined): NextEnd | undefined {
  if (reading.kind !== 'value') return reading.kind === 'absent' ? 'Absent' : undefined;
  const { value } = reading;
  if (value === null) return 'NullValue';
  if (value === '') return 'EmptyString';
  if (isList(value)) return value.length === 0 ? 'EmptyList' : same(value, sent);
  if (isObject(value)) return Object.keys(value).length === 0 ? 'EmptyObject' : same(value, sent);
  return same(value, sent);
}

function same(value: JsonValue, sent: JsonValue | undefined): NextEnd | undefined {
  return sent !== undefined && sameValue(value, sent) ? 'SameAsSent' : undefined;
}

/** Where some parts are required, they alone speak: an optional one only goes along. */
function together(parts: readonly PartRead[]): PartsRead['says'] {
  const required = parts.filter(({ part }) => part.presence === 'Required');
  return required.length === 0 ? alternatives(parts) : tuple(required);
}

/** Half a composite cursor restarts the other half at its beginning (two lists of S3 do that). */
function tuple(parts: readonly PartRead[]): PartsRead['says'] {
  const said = new Set(parts.map(({ says }) => says));
  if (said.has('unusable')) return 'unusable';
  if (said.has('more')) return said.has('end') || said.has('missing') ? 'half' : 'more';
  if (said.has('end')) return said.has('repeated') ? 'half' : said.has('missing') ? 'missing' : 'end';
  if (said.has('missing')) return 'missing';
  return parts.every(({ says, value }) => says === 'repeated' || value === undefined) && said.has('repeated') ? 'repeated' : 'silent';
}

/** A link that carries one of two parameters is usable by the one it carries, and by none if it carries neither. */
function alternatives(parts: readonly PartRead[]): PartsRead['says'] {
  const said = new Set(parts.map(({ says }) => says));
  if (said.has('more')) return 'more';
  if (said.has('silent') && parts.some(({ says, value }) => says === 'silent' && value !== undefined)) return 'silent';
  if (said.has('unusable')) return 'unusable';
  if (said.has('repeated')) return 'repeated';
  return said.has('end') ? 'end' : said.has('silent') ? 'silent' : 'missing';
}

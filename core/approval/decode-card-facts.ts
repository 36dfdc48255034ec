/**
 * CardFacts from bytes of a sidecar that may be hijacked: bounded, closed, parsed once. Only the shape is judged here; whether the facts are
 * true of this contract and this session is the operator's to compare.
 *
 * Every member is named, nothing is filled in, and the text is the strict JSON of the arguments (no duplicate keys, no `__proto__`).
 */
import { limits } from '#core/bounds/limits.ts';
import { canonicalJson } from '#core/encoding/canonical.ts';
import type { JsonObject, JsonValue } from '#core/encoding/json-value.ts';
import { parseStrictJson } from '#core/encoding/strict-json.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { AlternativeName, CardFacts, DoubtfulRead, EvidenceFacts, Requester } from './card-facts.ts';

/**
 * The one byte form: canonical JSON in UTF-8. Throws LIMIT_EXCEEDED where `decodeCardFacts` would refuse the size, INTERNAL where the facts hold
 * half of a surrogate pair: what a remote said must be made well-formed before it becomes a fact.
 */
export function encodeCardFacts(facts: CardFacts): Uint8Array {
  const bytes = new TextEncoder().encode(canonicalFacts(facts));
  if (bytes.byteLength <= limits.cardFactsBytesMax) return bytes;
  throw new PosternError(
    'LIMIT_EXCEEDED',
    `The facts of the card have more than ${limits.cardFactsBytesMax} bytes; use shorter arguments.`,
    {
      details: { limit: 'card_facts_bytes', most: String(limits.cardFactsBytesMax) },
    },
  );
}

function canonicalFacts(facts: CardFacts): string {
  try {
    return canonicalJson(facts as unknown as JsonValue);
  } catch (cause) {
    throw new PosternError('INTERNAL', 'The facts of a card hold what JSON cannot say.', { cause });
  }
}

/** Throws INVALID_ARGUMENT with the path and the rule, and nothing else, whatever the bytes are. */
export function decodeCardFacts(bytes: Uint8Array): CardFacts {
  if (bytes.byteLength > limits.cardFactsBytesMax) throw refused('', 'too_large', `has more than ${limits.cardFactsBytesMax} bytes`);
  // The arguments stand one level down.
  const parsed = parseStrictJson(bytes, { root: 'object', depthMax: limits.argumentsDepthMax + 1 });
  if (!parsed.ok) throw refused('', parsed.violation.rule, 'is not acceptable JSON');
  return facts(new Members(parsed.value as JsonObject, ''));
}

function facts(from: Members): CardFacts {
  const before = from.list('before', limits.cardFieldsMax, preparedField);
  const evidence = from.maybe('evidence', evidenceFacts);
  const grant = from.maybe('grant', (given) => ({
    calls: given.count('calls'),
    vary: given.texts('vary', limits.cardFieldsMax, limits.cardSentenceCharsMax),
  }));
  const alternative = from.maybe('alternative', (given) => ({ name: given.choice('name', ALTERNATIVES), of: given.text('of', NAME) }));
  const denied = from.maybe('denied', (given) => ({ atMs: given.time('atMs'), approver: given.text('approver', NAME) }));
  const choices = from.list('choices', limits.approvalAlternativesMax, (value, path) => oneOf(value, path, ALTERNATIVES));
  const reads = from.list('reads', limits.cardReadsMax, doubtfulRead);
  if (reads === undefined) throw refused('/reads', 'required', 'is missing');
  const decoded: CardFacts = {
    operationId: from.text('operationId', NAME),
    contract: from.text('contract', NAME),
    namespace: from.text('namespace', NAME),
    action: from.text('action', NAME),
    revision: from.digest('revision'),
    args: from.object('args'),
    argsDigest: from.digest('argsDigest'),
    planDigest: from.digest('planDigest'),
    requester: from.nested('requester', requester),
    askedAtMs: from.time('askedAtMs'),
    expiresAtMs: from.time('expiresAtMs'),
    reads,
    ...(before === undefined ? {} : { before }),
    ...(evidence === undefined ? {} : { evidence }),
    ...(grant === undefined ? {} : { grant }),
    ...(alternative === undefined ? {} : { alternative }),
    ...(choices === undefined ? {} : { choices }),
    ...(denied === undefined ? {} : { denied }),
  };
  from.end();
  return decoded;
}

const NAME = limits.cardNameCharsMax;
const ALTERNATIVES: readonly AlternativeName[] = ['retry-longer', 'listed-only'];

function requester(from: Members): Requester {
  if (from.choice('kind', ['alone', 'pod'] as const) === 'alone') return { kind: 'alone' };
  const [session, serviceAccount, pod] = [from.text('session', NAME), from.text('serviceAccount', NAME), from.text('pod', NAME)];
  return { kind: 'pod', session, serviceAccount, pod, image: from.text('image', NAME), controller: from.text('controller', NAME) };
}

function evidenceFacts(from: Members): EvidenceFacts {
  return {
    action: from.text('action', NAME),
    items: from.count('items'),
    complete: from.flag('complete'),
    lacks: from.texts('lacks', limits.cardLacksMax, limits.cardSentenceCharsMax),
    proof: from.choice('proof', ['Checked', 'Declared', 'Unproven'] as const),
    atMs: from.time('atMs'),
  };
}

function preparedField(value: JsonValue, path: string): NonNullable<CardFacts['before']>[number] {
  const from = new Members(value, path);
  const after = from.has('after') ? from.text('after', limits.argumentsBytesMax) : undefined;
  const field = { name: from.text('name', NAME), before: from.value('before'), ...(after === undefined ? {} : { after }) };
  from.end();
  return field;
}

function doubtfulRead(value: JsonValue, path: string): DoubtfulRead {
  const from = new Members(value, path);
  const read = { action: from.text('action', NAME), atMs: from.time('atMs'), codes: from.texts('codes', limits.cardCodesMax, NAME) };
  from.end();
  return read;
}

/** The members of one object: whoever reads it takes each by name, and `end` refuses what was not taken. */
class Members {
  readonly #object: JsonObject;
  readonly #path: string;
  readonly #left: Set<string>;

  constructor(value: JsonValue, path: string) {
    if (!isObject(value)) throw refused(path, 'type', 'is no object');
    this.#object = value;
    this.#path = path;
    this.#left = new Set(Object.keys(value));
  }

  /** MUST be called once all known members are taken. Does not name what is left: those keys are the sender's. */
  end(): void {
    if (this.#left.size > 0) throw refused(this.#path, 'unknown_member', 'has a member that no card knows');
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#object, name);
  }

  value(name: string): JsonValue {
    const value = this.has(name) ? this.#object[name] : undefined;
    if (value === undefined) throw refused(this.#at(name), 'required', 'is missing');
    this.#left.delete(name);
    return value;
  }

  text(name: string, charsMax: number): string {
    return textOf(this.value(name), this.#at(name), charsMax);
  }

  digest(name: string): `sha256:${string}` {
    const text = this.text(name, NAME);
    if (!/^sha256:[0-9a-f]{64}$/.test(text)) throw refused(this.#at(name), 'format', 'is no digest');
    return text as `sha256:${string}`;
  }

  /** Milliseconds since 1970 that a calendar knows. */
  time(name: string): number {
    const value = this.count(name);
    if (value > TIME_MAX) throw refused(this.#at(name), 'format', 'is no time');
    return value;
  }

  count(name: string): number {
    const value = this.value(name);
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
      throw refused(this.#at(name), 'type', 'is no whole number from 0 on');
    return value;
  }

  flag(name: string): boolean {
    const value = this.value(name);
    if (typeof value !== 'boolean') throw refused(this.#at(name), 'type', 'is neither true nor false');
    return value;
  }

  choice<Word extends string>(name: string, words: readonly Word[]): Word {
    return oneOf(this.value(name), this.#at(name), words);
  }

  object(name: string): JsonObject {
    const value = this.value(name);
    if (!isObject(value)) throw refused(this.#at(name), 'type', 'is no object');
    return value;
  }

  nested<Read>(name: string, read: (from: Members) => Read): Read {
    const from = new Members(this.value(name), this.#at(name));
    const decoded = read(from);
    from.end();
    return decoded;
  }

  maybe<Read>(name: string, read: (from: Members) => Read): Read | undefined {
    return this.has(name) ? this.nested(name, read) : undefined;
  }

  /** Undefined when it is absent. */
  list<Read>(name: string, most: number, read: (value: JsonValue, path: string) => Read): readonly Read[] | undefined {
    if (!this.has(name)) return undefined;
    const path = this.#at(name);
    const value = this.value(name);
    if (!Array.isArray(value)) throw refused(path, 'type', 'is no list');
    if (value.length > most) throw refused(path, 'too_many', `has more than ${most} elements`);
    return value.map((element: JsonValue, index) => read(element, `${path}/${index}`));
  }

  texts(name: string, most: number, charsMax: number): readonly string[] {
    const list = this.list(name, most, (value, path) => textOf(value, path, charsMax));
    if (list === undefined) throw refused(this.#at(name), 'required', 'is missing');
    return list;
  }

  #at(name: string): string {
    return `${this.#path}/${name}`;
  }
}

/** The last moment a Date can hold. */
const TIME_MAX = 8.64e15;

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: JsonValue, path: string, charsMax: number): string {
  if (typeof value !== 'string') throw refused(path, 'type', 'is no text');
  if (value.length > charsMax) throw refused(path, 'too_long', `is longer than ${charsMax} characters`);
  return value;
}

function oneOf<Word extends string>(value: JsonValue, path: string, words: readonly Word[]): Word {
  const word = words.find((each) => each === value);
  if (word === undefined) throw refused(path, 'enum', `is none of ${words.join(', ')}`);
  return word;
}

/** `path` is made of our own member names and of indexes: keys in the bytes are the sender's. */
function refused(path: string, rule: string, why: string): PosternError {
  const message = `The facts of the card are refused: ${path === '' ? 'the whole' : path} ${why}.`;
  return new PosternError('INVALID_ARGUMENT', message, { fields: [{ path, rule, message }] });
}

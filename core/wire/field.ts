/** Small differences between our values and protobuf's: words and enums, numbers and int64, absent and empty. */

/** The enum value of a word. */
export function toWord<Word extends string, Value extends number>(table: Readonly<Record<Word, Value>>, word: Word): Value {
  return table[word];
}

/** The word of an enum value; the table's first word, which promises least, for one that is not known here. */
export function fromWord<Word extends string>(table: Readonly<Record<Word, number>>, value: number | undefined): Word {
  const words = Object.keys(table) as Word[];
  const word = words.find((each) => table[each] === value) ?? words[0];
  if (word === undefined) throw new RangeError('an empty table of words');
  return word;
}

/** A count or a time of ours as uint32; what is beyond it (49 days of milliseconds) is its greatest value. */
export function toUint32(value: number): number {
  return Math.min(Math.max(Math.round(value), 0), 0xffffffff);
}

/** A whole number as int64; fractions (of a millisecond) are rounded. */
export function toCount(value: number): bigint;
export function toCount(value: number | undefined): bigint | undefined;
export function toCount(value: number | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(Math.round(value));
}

export function numberOf(value: bigint | undefined): number {
  return value === undefined ? 0 : Number(value);
}

type Present<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** The members that are not undefined: an absent member and one that is undefined are two things here. */
export function present<T extends Readonly<Record<string, unknown>>>(members: T): Present<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Present<T>;
}

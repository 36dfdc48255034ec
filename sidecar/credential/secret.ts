/**
 * A secret value that cannot be printed: no string form, no JSON form, nothing to inspect. Whoever needs the bytes says so
 * with `reveal`, which is easy to search for.
 */
import { inspect } from 'node:util';

export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The value itself: to attach it, to sign with it, to look for it in an answer. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return PLACEHOLDER;
  }

  toJSON(): string {
    return PLACEHOLDER;
  }

  [Symbol.toPrimitive](): string {
    return PLACEHOLDER;
  }

  [inspect.custom](): string {
    return PLACEHOLDER;
  }
}

const PLACEHOLDER = '[secret]';

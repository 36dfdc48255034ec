/**
 * A text that a schema pattern accepts, preferring the nastiest characters it lets through. Covers what argument
 * patterns are written in: literals, classes, groups, alternatives, bounded and unbounded repetition. Anything else
 * gives `null`, and the caller says that it could not make a value.
 */
import type { RandomSource } from './random-source.ts';

/** Characters tried first in every class: those with a meaning somewhere in a request. */
const NASTY = './\\%?#&=+;:@,"\'<>(){}[]|*~!$^- \t\n_\u00E9\u202E';
const PLAIN = 'abcxyzABCXYZ0123456789';
const ESCAPES: Readonly<Record<string, string>> = { d: '0123456789', w: `${PLAIN}_`, s: ' \t', n: '\n', t: '\t', r: '\r' };
/** Repeats of an open-ended quantifier beyond its least. */
const EXTRA_REPEATS = 4;

/** The caller checks the text against the real pattern: this is a guess, not a proof. */
export function samplePattern(pattern: string, random: RandomSource): string | null {
  const sampler = new Sampler(pattern.replace(/^\^|^\\A/, '').replace(/\$$|\\z$/, ''), random);
  try {
    const text = sampler.alternatives();
    return sampler.atEnd ? text : null;
  } catch (fault) {
    if (fault instanceof NotCovered) return null;
    throw fault;
  }
}

class NotCovered extends Error {}

class Sampler {
  readonly #pattern: readonly string[];
  readonly #random: RandomSource;
  #at = 0;

  constructor(pattern: string, random: RandomSource) {
    this.#pattern = [...pattern];
    this.#random = random;
  }

  get atEnd(): boolean {
    return this.#at >= this.#pattern.length;
  }

  alternatives(): string {
    const options = [this.#sequence()];
    while (this.#peek() === '|') {
      this.#at += 1;
      options.push(this.#sequence());
    }
    return this.#random.pick(options) ?? '';
  }

  #peek(): string | undefined {
    return this.#pattern[this.#at];
  }

  #next(): string {
    const character = this.#pattern[this.#at];
    if (character === undefined) throw new NotCovered();
    this.#at += 1;
    return character;
  }

  #sequence(): string {
    let text = '';
    while (!this.atEnd && this.#peek() !== '|' && this.#peek() !== ')') text += this.#repeated();
    return text;
  }

  /** An atom is read anew for each repeat, so that every repeat draws its own characters. */
  #repeated(): string {
    const start = this.#at;
    const first = this.#atom();
    const afterAtom = this.#at;
    const { least, most } = this.#quantifier();
    const afterAll = this.#at;
    if (least === 1 && most === 1) return first;
    const count = least + this.#random.below(Math.min(most - least, EXTRA_REPEATS) + 1);
    let text = '';
    for (let index = 0; index < count; index += 1) {
      this.#at = start;
      text += this.#atom();
      if (this.#at !== afterAtom) throw new NotCovered();
    }
    this.#at = afterAll;
    return text;
  }

  #quantifier(): { readonly least: number; readonly most: number } {
    const rest = this.#pattern.slice(this.#at, this.#at + 16).join('');
    const parts = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(rest);
    if (parts === null) return { least: 1, most: 1 };
    this.#at += parts[0].length;
    if (parts[1] !== undefined) return { least: parts[1] === '+' ? 1 : 0, most: parts[1] === '?' ? 1 : 64 };
    const least = Number(parts[2]);
    if (parts[3] === '') return { least, most: least };
    return { least, most: parts[4] === '' ? least + 64 : Number(parts[4]) };
  }

  #atom(): string {
    const character = this.#next();
    if (character === '(') return this.#group();
    if (character === '[') return this.#class();
    if (character === '.') return this.#choose(NASTY.replace('\n', '') + PLAIN);
    if (character === '\\') return this.#escape();
    if (character === '^' || character === '$') return '';
    return character;
  }

  #group(): string {
    if (this.#peek() === '?') {
      const rest = this.#pattern.slice(this.#at, this.#at + 40).join('');
      const opening = /^\?(?::|P?<\w+>)/.exec(rest);
      if (opening === null) throw new NotCovered();
      this.#at += opening[0].length;
    }
    const text = this.alternatives();
    if (this.#next() !== ')') throw new NotCovered();
    return text;
  }

  #escape(): string {
    const character = this.#next();
    const set = ESCAPES[character];
    if (set !== undefined) return this.#choose(set);
    if (/[A-Za-z0-9]/.test(character)) throw new NotCovered();
    return character;
  }

  #class(): string {
    const negated = this.#peek() === '^';
    if (negated) this.#at += 1;
    let listed = '';
    const ranges: (readonly [string, string])[] = [];
    for (let character = this.#next(); character !== ']' || (listed === '' && ranges.length === 0); character = this.#next()) {
      const member = character === '\\' ? this.#classEscape() : character;
      if (this.#peek() === '-' && this.#pattern[this.#at + 1] !== ']' && member.length === 1) {
        this.#at += 1;
        ranges.push([member, this.#next()]);
      } else listed += member;
    }
    const inside = (candidate: string) => listed.includes(candidate) || ranges.some(([from, to]) => candidate >= from && candidate <= to);
    const candidates = [...NASTY, ...PLAIN, ...listed, ...ranges.flat()].filter((candidate) => inside(candidate) !== negated);
    return this.#choose(candidates.join(''));
  }

  #classEscape(): string {
    const character = this.#next();
    const set = ESCAPES[character];
    if (set === undefined && /[A-Za-z0-9]/.test(character)) throw new NotCovered();
    return set ?? character;
  }

  #choose(characters: string): string {
    const picked = this.#random.pick([...characters]);
    if (picked === undefined) throw new NotCovered();
    return picked;
  }
}

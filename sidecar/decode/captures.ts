/**
 * Named groups of a line by RE2's own compiled program. The RE2 port answers only whether a text matches; a backtracking engine
 * would answer the rest, and a hostile line would make it slow (failure case JSON-14). This is the Pike machine: all threads
 * advance together, so the time is bounded by line length times program size.
 *
 * Leftmost-first, like RE2: of two threads in one state the one of higher priority lives.
 * @see https://swtch.com/~rsc/regexp/regexp2.html
 */
import { RE2JS } from '@bufbuild/re2';

export type Capture = (line: string) => Readonly<Record<string, string>> | undefined;

/** Built once per pattern. `undefined` for a line that does not match; a group that took no part is absent. */
export function captures(pattern: string): Capture {
  const compiled = RE2JS.compile(pattern);
  const names = [...compiled.namedGroups()];
  const machine = new Machine(compiled.re2().prog);
  return (line) => {
    const slots = machine.run(line);
    if (slots === undefined) return undefined;
    const groups: Record<string, string> = Object.create(null);
    for (const [name, group] of names) {
      const start = slots[2 * group] ?? -1;
      const end = slots[2 * group + 1] ?? -1;
      if (start >= 0 && end >= 0) groups[name] = line.slice(start, end);
    }
    return groups;
  };
}

type Program = ReturnType<RE2JS['re2']>['prog'];
type Instruction = ReturnType<Program['getInst']>;

// Instruction codes of the program (Inst.js); the tests would notice another numbering.
const OP = { ALT: 1, ALT_MATCH: 2, CAPTURE: 3, EMPTY_WIDTH: 4, FAIL: 5, MATCH: 6, NOP: 7 } as const;

/** A way from a state, without a character, to one that needs a character or is the match. */
interface Way {
  readonly pc: number;
  readonly isMatch: boolean;
  /** The instruction after the character. */
  readonly out: number;
  /** Groups that begin or end on the way. */
  readonly sets: readonly number[];
  /** Which characters below 128 it takes; the instruction knows the others. */
  readonly ascii: Uint8Array;
  readonly instruction: Instruction;
}

interface Ways {
  /** In order of priority. */
  readonly list: readonly Way[];
  /** Characters below 128 that only lead back to where the thread is. */
  readonly idle: Uint8Array;
}

interface Thread {
  /** Where it goes on: the state after the last character. */
  readonly pc: number;
  readonly slots: Int32Array;
}

/** One machine serves one line at a time; what it learns of the program it keeps. */
class Machine {
  readonly #program: Program;
  /** The step in which a state last took a character: one thread a state and step. */
  readonly #entered: Uint32Array;
  /** By state and what holds at a position (6 bits), in order of priority. */
  readonly #ways: (Ways | undefined)[];
  readonly #ascii: Uint8Array[] = [];
  readonly #fresh: Int32Array;
  /** It begins with `^`: no thread begins later. */
  readonly #anchored: boolean;
  /** What the program asks of a position; `plain`: nothing but whether it is an end of the text. */
  readonly #asked: number;
  readonly #plain: boolean;
  #step = 0;
  /** What holds at this position, the character there (-1 at the end), and the position. */
  #context = 0;
  #rune = -1;
  #at = 0;

  constructor(program: Program) {
    this.#program = program;
    this.#entered = new Uint32Array(program.numInst());
    this.#fresh = new Int32Array(Math.max(2, program.numCap)).fill(-1);
    this.#ways = Array.from({ length: program.numInst() * CONTEXTS });
    this.#asked = askedOf(program);
    this.#plain = (this.#asked & ~(BEGIN_TEXT | END_TEXT)) === 0;
    const { op, arg } = program.getInst(program.start);
    this.#anchored = op === OP.EMPTY_WIDTH && (arg & BEGIN_TEXT) !== 0;
  }

  /** The slots of the leftmost-first match: start and end of each group, -1 where it took no part. */
  run(text: string): Int32Array | undefined {
    const begin: Thread = { pc: this.#program.start, slots: this.#fresh };
    let threads: Thread[] = [];
    let spare: Thread[] = [];
    let matched: Int32Array | undefined;
    let before = -1;
    for (let at = 0; at <= text.length; ) {
      const rune = text.codePointAt(at) ?? -1;
      this.#nextStep(emptyContext(before, rune), rune, at);
      spare.length = 0;
      if (matched === undefined && this.#beginsAt(at)) threads.push(begin);
      matched = this.#advanceAll(threads, spare) ?? matched;
      [threads, spare] = [spare, threads];
      const closed = matched !== undefined || this.#anchored;
      if (rune < 0 || (threads.length === 0 && closed)) break;
      before = rune;
      at += rune > 0xffff ? 2 : 1;
      if (closed) at = this.#onward(threads, text, at);
    }
    return matched;
  }

  #beginsAt(at: number): boolean {
    return at === 0 || !this.#anchored;
  }

  /** Steps are counted over all lines, so that nothing is cleared between them. */
  #nextStep(context: number, rune: number, at: number): void {
    this.#context = context;
    this.#rune = rune;
    this.#at = at;
    this.#step += 1;
    if (this.#step < 0xffffffff) return;
    this.#entered.fill(0);
    this.#step = 1;
  }

  /** All threads one character on; a match cuts off the threads of lower priority. */
  #advanceAll(threads: readonly Thread[], into: Thread[]): Int32Array | undefined {
    for (const thread of threads) {
      const matched = this.#advance(thread, into);
      if (matched !== undefined) return matched;
    }
    return undefined;
  }

  /** One thread one character on, by every way that takes it. Slots are copied only for a thread that lives on. */
  #advance(thread: Thread, into: Thread[]): Int32Array | undefined {
    for (const way of this.#waysOf(thread.pc, this.#context).list) {
      if (this.#entered[way.pc] === this.#step) continue;
      this.#entered[way.pc] = this.#step;
      if (way.isMatch) return marked(thread.slots, way.sets, this.#at);
      if (this.#rune < 0 || !takes(way, this.#rune)) continue;
      // A loop over one kind of character leaves its thread as it is: most of a line is such a loop.
      const same = way.out === thread.pc && way.sets.length === 0;
      into.push(same ? thread : { pc: way.out, slots: marked(thread.slots, way.sets, this.#at) });
    }
    return undefined;
  }

  /**
   * Where the only thread there is does something else than go round: most of a line is one loop. `before` is then not the character
   * before that place, which a plain program does not ask for.
   */
  #onward(threads: readonly Thread[], text: string, from: number): number {
    const [only] = threads;
    if (only === undefined || threads.length > 1 || !this.#plain) return from;
    const { idle } = this.#waysOf(only.pc, 0);
    let at = from;
    while (at < text.length && idle[text.charCodeAt(at)] === 1) at += 1;
    return at;
  }

  #waysOf(pc: number, context: number): Ways {
    const key = pc * CONTEXTS + (context & this.#asked);
    let ways = this.#ways[key];
    if (ways === undefined) {
      const list = this.#waysFrom(pc, context);
      ways = { list, idle: idleOf(pc, list) };
      this.#ways[key] = ways;
    }
    return ways;
  }

  /** Every state reachable without a character, in order of priority. */
  #waysFrom(pc: number, context: number): readonly Way[] {
    const ways: Way[] = [];
    const seen = new Set<number>();
    const pending: { readonly pc: number; readonly sets: readonly number[] }[] = [{ pc, sets: [] }];
    for (let here = pending.pop(); here !== undefined; here = pending.pop()) {
      if (seen.has(here.pc)) continue;
      seen.add(here.pc);
      const instruction = this.#program.getInst(here.pc);
      const onward = this.#successors(instruction, here.sets, context);
      if (onward !== undefined) pending.push(...onward);
      else
        ways.push({
          pc: here.pc,
          isMatch: instruction.op === OP.MATCH,
          out: instruction.out,
          sets: here.sets,
          ascii: this.#asciiOf(here.pc, instruction),
          instruction,
        });
    }
    return ways;
  }

  /** Where a state leads without a character, lowest priority first; undefined when it needs one, or is the match. */
  #successors(
    { op, out, arg }: Instruction,
    sets: readonly number[],
    context: number,
  ): { pc: number; sets: readonly number[] }[] | undefined {
    switch (op) {
      case OP.ALT:
      case OP.ALT_MATCH:
        return [
          { pc: arg, sets },
          { pc: out, sets },
        ];
      case OP.NOP:
        return [{ pc: out, sets }];
      case OP.EMPTY_WIDTH:
        return (arg & ~context) === 0 ? [{ pc: out, sets }] : [];
      case OP.CAPTURE:
        return [{ pc: out, sets: arg < this.#fresh.length ? [...sets, arg] : sets }];
      case OP.FAIL:
        return [];
      default:
        return undefined;
    }
  }

  #asciiOf(pc: number, instruction: Instruction): Uint8Array {
    let ascii = this.#ascii[pc];
    if (ascii === undefined) {
      ascii = Uint8Array.from({ length: ASCII }, (_, rune) => (instruction.op !== OP.MATCH && instruction.matchRune(rune) ? 1 : 0));
      this.#ascii[pc] = ascii;
    }
    return ascii;
  }
}

function takes({ ascii, instruction }: Way, rune: number): boolean {
  return rune < ASCII ? ascii[rune] === 1 : instruction.matchRune(rune);
}

const ASCII = 128;
const CONTEXTS = 64;
const BEGIN_TEXT = 4;
const END_TEXT = 8;

function askedOf(program: Program): number {
  let asked = 0;
  for (let pc = 0; pc < program.numInst(); pc += 1) {
    const { op, arg } = program.getInst(pc);
    if (op === OP.EMPTY_WIDTH) asked |= arg;
  }
  return asked;
}

function idleOf(pc: number, ways: readonly Way[]): Uint8Array {
  return Uint8Array.from({ length: ASCII }, (_, rune) => {
    const taking = ways.filter((way) => way.isMatch || way.ascii[rune] === 1);
    const [only] = taking;
    return taking.length === 1 && only !== undefined && !only.isMatch && only.out === pc && only.sets.length === 0 ? 1 : 0;
  });
}

/** The slots with `at` where groups begin or end; the same ones when none does. */
function marked(slots: Int32Array, sets: readonly number[], at: number): Int32Array {
  if (sets.length === 0) return slots;
  const copy = slots.slice();
  for (const slot of sets) copy[slot] = at;
  return copy;
}

const NEWLINE = 10;

/** Which of `^ $ \A \z \b \B` hold between two characters; -1 is an end of the text (Utils.js emptyOpContext). */
function emptyContext(before: number, after: number): number {
  let context = 0;
  if (before < 0) context |= BEGIN_TEXT | 1;
  if (before === NEWLINE) context |= 1;
  if (after < 0) context |= END_TEXT | 2;
  if (after === NEWLINE) context |= 2;
  return context | (isWord(before) === isWord(after) ? 32 : 16);
}

function isWord(rune: number): boolean {
  return (rune >= 48 && rune <= 57) || (rune >= 65 && rune <= 90) || rune === 95 || (rune >= 97 && rune <= 122);
}

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
    if (!compiled.test(line)) return undefined;
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

interface Thread {
  readonly pc: number;
  readonly slots: Int32Array;
}

class Machine {
  readonly #program: Program;
  /** The step in which a state was last entered: one thread a state and step. */
  readonly #entered: Uint32Array;
  readonly #instructions: readonly Instruction[];
  /** States still to be followed; empty between calls. */
  readonly #pending: Thread[] = [];
  #step = 0;

  constructor(program: Program) {
    this.#program = program;
    this.#entered = new Uint32Array(program.numInst());
    this.#instructions = Array.from({ length: program.numInst() }, (_, pc) => program.getInst(pc));
  }

  /** The slots of the leftmost-first match: start and end of each group, -1 where it took no part. */
  run(text: string): Int32Array | undefined {
    const fresh = new Int32Array(Math.max(2, this.#program.numCap)).fill(-1);
    let threads: Thread[] = [];
    let matched: Int32Array | undefined;
    let before = -1;
    this.#entered.fill(0);
    this.#step = 0;
    for (let at = 0; at <= text.length; ) {
      const rune = text.codePointAt(at) ?? -1;
      const width = rune > 0xffff ? 2 : 1;
      // Threads were carried over as states still to be followed; now both neighbours of this position are known.
      const current: Thread[] = [];
      this.#step += 1;
      const context = emptyContext(before, rune);
      for (const thread of threads) this.#follow(thread, current, at, context);
      if (matched === undefined) this.#follow({ pc: this.#program.start, slots: fresh }, current, at, context);
      const advanced = this.#advance(current, rune);
      threads = advanced.threads;
      matched = advanced.matched ?? matched;
      if (rune < 0 || (threads.length === 0 && matched !== undefined)) break;
      before = rune;
      at += width;
    }
    return matched;
  }

  /** Adds every state reachable without a character, in order of priority. */
  #follow(from: Thread, into: Thread[], at: number, context: number): void {
    const pending = this.#pending;
    pending.push(from);
    for (let thread = pending.pop(); thread !== undefined; thread = pending.pop()) {
      if (this.#entered[thread.pc] === this.#step) continue;
      this.#entered[thread.pc] = this.#step;
      if (!this.#pushSuccessors(thread, at, context)) into.push(thread);
    }
  }

  /** Where a state leads without a character, lowest priority first; `false` when it needs one, or is the match. */
  #pushSuccessors({ pc, slots }: Thread, at: number, context: number): boolean {
    const { op, out, arg } = this.#instructionAt(pc);
    switch (op) {
      case OP.ALT:
      case OP.ALT_MATCH:
        this.#pending.push({ pc: arg, slots }, { pc: out, slots });
        return true;
      case OP.NOP:
        this.#pending.push({ pc: out, slots });
        return true;
      case OP.EMPTY_WIDTH:
        if ((arg & ~context) === 0) this.#pending.push({ pc: out, slots });
        return true;
      case OP.CAPTURE:
        this.#pending.push({ pc: out, slots: arg < slots.length ? slots.with(arg, at) : slots });
        return true;
      case OP.FAIL:
        return true;
      default:
        return false;
    }
  }

  #instructionAt(pc: number): Instruction {
    return this.#instructions[pc] ?? this.#program.getInst(pc);
  }

  /** One character on; a match cuts off the threads of lower priority. */
  #advance(current: readonly Thread[], rune: number): { readonly threads: Thread[]; readonly matched?: Int32Array } {
    const threads: Thread[] = [];
    for (const { pc, slots } of current) {
      const instruction = this.#instructionAt(pc);
      if (instruction.op === OP.MATCH) return { threads, matched: slots };
      if (rune >= 0 && instruction.matchRune(rune)) threads.push({ pc: instruction.out, slots });
    }
    return { threads };
  }
}

const NEWLINE = 10;

/** Which of `^ $ \A \z \b \B` hold between two characters; -1 is an end of the text (Utils.js emptyOpContext). */
function emptyContext(before: number, after: number): number {
  let context = 0;
  if (before < 0) context |= 4 | 1;
  if (before === NEWLINE) context |= 1;
  if (after < 0) context |= 8 | 2;
  if (after === NEWLINE) context |= 2;
  return context | (isWord(before) === isWord(after) ? 32 : 16);
}

function isWord(rune: number): boolean {
  return (rune >= 48 && rune <= 57) || (rune >= 65 && rune <= 90) || rune === 95 || (rune >= 97 && rune <= 122);
}

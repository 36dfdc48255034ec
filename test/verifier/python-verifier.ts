/** The second verifier as one process that answers many questions: verify.py --batch. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface PythonAnswer {
  readonly code: number;
  readonly error?: string;
  readonly chains: readonly {
    readonly origin: string | null;
    readonly records: number;
    readonly broken_at: number | null;
    readonly why: string | null;
    readonly signature: string;
    readonly signature_at: number | null;
    readonly tail: string;
    readonly tail_at: number | null;
    readonly clock_skew_at: readonly number[];
    readonly good: boolean;
    readonly lines: readonly string[];
  }[];
}

export interface PythonVerifier extends AsyncDisposable {
  /** As on its command line. One question at a time is answered, in order. */
  ask(args: readonly string[]): Promise<PythonAnswer>;
}

export const VERIFIER = join(import.meta.dirname, 'verify.py');

/** `python`: an interpreter with `cryptography`. */
export function startPythonVerifier(python: string): PythonVerifier {
  const child = spawn(python, [VERIFIER, '--batch'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let last: Promise<unknown> = Promise.resolve();
  const ask = async (args: readonly string[]): Promise<PythonAnswer> => {
    child.stdin.write(`${JSON.stringify(args)}\n`);
    const line = await lines.next();
    if (line.done) throw new Error('the second verifier has gone');
    return JSON.parse(line.value) as PythonAnswer;
  };
  return {
    ask: (args) => {
      const answer = last.then(() => ask(args));
      last = answer.catch(() => undefined);
      return answer;
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended;
    },
  };
}

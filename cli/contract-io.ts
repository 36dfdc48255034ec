/** What the contract commands need of the world, as a value: tests give their own. */
import { type Clock, systemClock } from '#core/bounds/clock.ts';

export interface ContractIo {
  readonly clock: Pick<Clock, 'wallMs'>;
  /** One line, or several; the line end is added. */
  out(text: string): void;
  err(text: string): void;
  /** The exit code once the command is done: 0, 1 or 2. */
  exit(code: number): void;
}

export const processIo: ContractIo = {
  clock: systemClock,
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  exit: (code) => {
    process.exitCode = code;
  },
};

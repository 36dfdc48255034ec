/**
 * What one command writes, until its channel is closed: both streams are read all the time, each kept up to a cap of its own. A stream
 * nobody reads would fill its window and stop the command (failure case SSH-13).
 *
 * Output may come after the exit status (failure case SSH-09), so the end is the channel's. Whether the output is whole: its end must have
 * come from the host, in a connection that still stood. A lost connection ends the streams too (failure case SSH-07).
 */
import type { ClientChannel } from 'ssh2';
import { limits } from '#core/bounds/limits.ts';
import { signalName } from '#core/completeness/signal-name.ts';
import type { RawOutput } from '#sidecar/decode/decode-output.ts';

export interface OutputRules {
  readonly stdoutBytesMax: number;
  /** More than that ends the reading, and with it the command. Else it is read to its end: ending an effect half-way is no way to save bytes. */
  readonly endAtCap: boolean;
  onEnd(output: RawOutput): void;
}

export class CommandOutput {
  readonly #rules: OutputRules;
  readonly #stdout: CappedBytes;
  readonly #stderr = new CappedBytes(limits.sshStderrBytesMax);
  #exit: RawOutput['exit'];
  #lost = false;
  #whole = false;
  #open = 2;
  #ended = false;

  constructor(channel: ClientChannel, rules: OutputRules) {
    this.#rules = rules;
    this.#stdout = new CappedBytes(rules.stdoutBytesMax);
    channel.on('error', ignore).on('exit', (code: number | null, signal?: string) => {
      // The library puts SIG before the name.
      this.#exit = typeof code === 'number' ? { code } : { signal: signalName((signal ?? '').replace(/^SIG/, '')) };
    });
    channel
      .on('data', (chunk: Buffer) => this.#take(chunk))
      .on('end', () => {
        this.#whole = !this.#lost;
      });
    channel.on('close', () => this.#closed());
    channel.stderr
      .on('error', ignore)
      .on('data', (chunk: Buffer) => this.#stderr.add(chunk))
      .on('end', () => this.#closed());
  }

  /** The connection is gone: what has not come will not come. */
  lose(): void {
    this.#lost = true;
  }

  /** Ends now, with what there is. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    const { overflowed } = this.#stdout;
    const fault = overflowed ? 'tooLarge' : this.#whole && this.#exit !== undefined ? undefined : 'cut';
    this.#rules.onEnd({
      stdout: this.#stdout.bytes(),
      stderr: this.#stderr.bytes(),
      ...(this.#exit === undefined ? {} : { exit: this.#exit }),
      ...(fault === undefined ? {} : { fault }),
    });
  }

  #take(chunk: Buffer): void {
    this.#stdout.add(chunk);
    if (this.#stdout.overflowed && this.#rules.endAtCap) this.end();
  }

  /** The channel and the error stream each end once; both have given all they had by then. */
  #closed(): void {
    this.#open -= 1;
    if (this.#open === 0) this.end();
  }
}

/** The first bytes of a stream. */
class CappedBytes {
  readonly #max: number;
  readonly #chunks: Buffer[] = [];
  #length = 0;
  overflowed = false;

  constructor(max: number) {
    this.#max = max;
  }

  add(chunk: Buffer): void {
    const room = this.#max - this.#length;
    if (chunk.length > room) this.overflowed = true;
    if (room <= 0) return;
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
    this.#length += kept.length;
    this.#chunks.push(kept);
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks, this.#length);
  }
}

function ignore(): void {
  // What ends a channel with an error ends its connection too, and that is seen there (failure case SSH-11).
}

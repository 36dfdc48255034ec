/**
 * An SSH remote with one credential: assemble, look up the key, run, mask, decode - in this order, as over HTTP. The key is asked for once
 * the host is final, and nothing of the output is looked at before credentials are taken out of it.
 */
import type { Clock } from '#core/bounds/clock.ts';
import type { Exchange, NoReply, Reply } from '#core/completeness/exchange.ts';
import { assembleCommand, type OutboundCommand } from '#core/contract/assemble-command.ts';
import type { JsonValue, ResultRules } from '#core/contract/compiled.ts';
import type { SlotValues } from '#core/contract/slot-value.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { SshFailureKind } from '#core/runtime/effect-metrics.ts';
import type { ReplyMask } from '#sidecar/credential/mask.ts';
import { decodeOutput, type RawOutput } from '#sidecar/decode/decode-output.ts';
import { TransportFailure } from './http/transport.ts';
import type { Fault } from './http-remote.ts';
import { missingExit, missingExitOf } from './missing-exit.ts';
import { type AskOptions, isCommand, type Question, type Remote } from './remote.ts';
import { type HostKeyMismatch, SshFailure } from './ssh/ssh-failure.ts';

/** One run of a command, with the keys of this moment. */
export interface CommandRunner {
  run(command: OutboundCommand, options: RunnerOptions): Promise<RawOutput>;
  /** What to take out of the output; ask after the run: looking up the key may have rotated it. */
  mask(): { forCall(args: string, onAnomaly: () => void): ReplyMask };
}

export interface RunnerOptions {
  readonly signal: AbortSignal;
  readonly stdoutBytesMax: number;
  /** Output over the cap ends the command; else it is read and dropped. */
  readonly endAtCap: boolean;
  onHostKeyMismatch(mismatch: HostKeyMismatch): void;
  onForeignChannel(): void;
}

export interface SshRemoteMeans {
  readonly rules: ResultRules;
  readonly runner: CommandRunner;
  readonly clock: Clock;
  /** A read: nothing is lost when it is ended. */
  readonly repeatable: boolean;
  /** One command and its end, for the metrics: as an HTTP server would say it, 200 for exit 0, 400 for any other exit, 0 where none came. */
  onExchange?(status: number, durationMs: number, bytes: number): void;
  onFault?(cause: Fault, thrown: unknown): void;
  onHostKeyMismatch?(mismatch: HostKeyMismatch): void;
  onForeignChannel?(): void;
  /** The command has no exit status. */
  onMissingExit?(kind: SshFailureKind): void;
  /** The caller's own arguments hold the credential (failure case LEAK-22); told at most once a call. */
  onAnomaly(): void;
}

/** A remote for one call: what the caller itself supplied decides what is masked, so `args` belong to it. */
export class SshRemote implements Remote {
  readonly #means: SshRemoteMeans;
  readonly #argsText: string;
  #anomaly = false;

  constructor(means: SshRemoteMeans, args: Readonly<Record<string, JsonValue>>) {
    this.#means = means;
    this.#argsText = JSON.stringify(args);
  }

  async ask(question: Question, values: SlotValues, options: AskOptions): Promise<Exchange> {
    if (!isCommand(question)) throw new TypeError('a request was asked of an SSH remote');
    const { outbound, sent } = assembleCommand(question, values);
    return { sent, reply: await this.#run(outbound, options) };
  }

  async #run(command: OutboundCommand, { signal, bodyBytesMax }: AskOptions): Promise<Reply | NoReply> {
    const { runner, rules, clock, repeatable } = this.#means;
    const startedMs = clock.monotonicMs();
    try {
      const raw = await runner.run(command, {
        signal,
        stdoutBytesMax: bodyBytesMax,
        endAtCap: repeatable,
        onHostKeyMismatch: (mismatch) => this.#means.onHostKeyMismatch?.(mismatch),
        onForeignChannel: () => this.#means.onForeignChannel?.(),
      });
      this.#means.onExchange?.(statusOf(raw), clock.monotonicMs() - startedMs, raw.stdout.byteLength);
      this.#count(missingExit(raw));
      const reply = decodeOutput(raw, rules, this.#mask(), clock.wallMs());
      if (reply.fault !== undefined) this.#means.onFault?.(reply.fault, undefined);
      return reply;
    } catch (thrown) {
      this.#count(missingExitOf(thrown));
      const cause = causeOf(thrown, signal);
      this.#means.onExchange?.(0, clock.monotonicMs() - startedMs, 0);
      this.#means.onFault?.(cause, thrown);
      return { kind: 'noReply', cause, sent: thrown instanceof SshFailure && thrown.sent, receivedAtMs: clock.wallMs() };
    }
  }

  #count(kind: SshFailureKind | undefined): void {
    if (kind !== undefined) this.#means.onMissingExit?.(kind);
  }

  #mask(): ReplyMask {
    return this.#means.runner.mask().forCall(this.#argsText, () => {
      if (this.#anomaly) return;
      this.#anomaly = true;
      this.#means.onAnomaly();
    });
  }
}

function statusOf({ exit }: RawOutput): number {
  if (exit === undefined || 'signal' in exit) return 0;
  return exit.code === 0 ? 200 : 400;
}

/** As over HTTP: what is away for a moment must not lose what was collected; whatever else is wrong before sending is an error of the call. */
function causeOf(thrown: unknown, signal: AbortSignal): NoReply['cause'] {
  if (thrown instanceof SshFailure || thrown instanceof TransportFailure) return thrown.kind;
  if (signal.aborted) return 'timedOut';
  if (thrown instanceof PosternError && thrown.reason === 'VAULT_LOCKED') return 'locked';
  throw thrown;
}

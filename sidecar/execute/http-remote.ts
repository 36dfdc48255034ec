/**
 * An HTTP remote with one credential: assemble, attach, send, mask, decode - in this order. The credential is put on
 * once the destination is final, and nothing of the reply is looked at before credentials are taken out of it.
 */

import type { Clock } from '#core/bounds/clock.ts';
import type { BodyFault, Exchange, NoReply, Reply } from '#core/completeness/exchange.ts';
import { type Assembled, assemble, assembleFollow } from '#core/contract/assemble.ts';
import type { JsonValue, RequestTemplate, ResultRules } from '#core/contract/compiled.ts';
import type { SlotValues } from '#core/contract/slot-value.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { BindingCredential } from '#sidecar/credential/attach.ts';
import type { ReplyMask } from '#sidecar/credential/mask.ts';
import { decodeReply } from '#sidecar/decode/decode-reply.ts';
import { type OutboundRequest, type Transport, TransportFailure } from './http/transport.ts';
import { type AskOptions, isCommand, type Question, type Remote } from './remote.ts';

export interface HttpRemoteMeans {
  readonly rules: ResultRules;
  readonly credential: BindingCredential;
  /** The transport of one of the binding's destinations; open and next may have another origin than the main request. */
  transport(origin: string): Transport;
  readonly clock: Clock;
  /** Canonical literal origin of a source that has its own. */
  readonly origin?: string;
  /** Reads may be sent again when a kept socket died without a byte of an answer; what is no read leaves on a socket of its own. */
  readonly repeatable: boolean;
  /** One request and its answer, for the metrics: status 0 where none came, decoded bytes. */
  onExchange?(status: number, durationMs: number, bytes: number): void;
  /** Why no answer came, or none that can be believed, for whoever is paged; `thrown` is for the log only. */
  onFault?(cause: Fault, thrown: unknown): void;
  /** The caller's own arguments hold the credential (failure case LEAK-22); told at most once a call. */
  onAnomaly(): void;
}

/** A remote for one call: what the caller itself supplied decides what is masked, so `args` belong to it. */
export class HttpRemote implements Remote {
  readonly #means: HttpRemoteMeans;
  readonly #argsText: string;
  #anomaly = false;

  constructor(means: HttpRemoteMeans, args: Readonly<Record<string, JsonValue>>) {
    this.#means = means;
    this.#argsText = JSON.stringify(args);
  }

  async ask(template: Question, values: SlotValues, options: AskOptions): Promise<Exchange> {
    if (isCommand(template)) throw new TypeError('a command was asked of an HTTP remote');
    const assembled = this.#assemble(template, values, options.follow);
    const first = await this.#send(assembled, options);
    // A token may have been withdrawn before its time; one renewed try, still before anything was answered to the caller.
    const again = first.status === 401 && this.#means.repeatable && this.#means.credential.renew(first.request);
    const { reply } = again ? await this.#send(assembled, options) : first;
    return { sent: assembled.sent, reply };
  }

  #assemble(template: RequestTemplate, values: SlotValues, follow: string | undefined): Assembled {
    const at = this.#means.origin === undefined ? {} : { origin: this.#means.origin };
    return follow === undefined ? assemble(template, values, at) : assembleFollow(template, values, follow, at);
  }

  async #send({ outbound }: Assembled, options: AskOptions): Promise<Sent> {
    const { credential, rules, clock, repeatable } = this.#means;
    let request = outbound;
    const startedMs = clock.monotonicMs();
    try {
      const attached = credential.attach(outbound, options.signal);
      request = attached instanceof Promise ? await attached : attached;
      const raw = await this.#means.transport(request.origin).send(request, {
        signal: options.signal,
        // Compressed bytes are fewer than decoded ones, or somebody is playing games.
        wireBytesMax: options.bodyBytesMax,
        bodyBytesMax: options.bodyBytesMax,
        repeatable,
        freshConnection: !repeatable,
      });
      this.#means.onExchange?.(raw.status, clock.monotonicMs() - startedMs, raw.body.byteLength);
      const reply = decodeReply(raw, rules, this.#mask(), clock.wallMs());
      if (reply.fault !== undefined) this.#means.onFault?.(reply.fault, undefined);
      return { request, status: raw.status, reply };
    } catch (thrown) {
      const cause = causeOf(thrown, options.signal);
      this.#means.onExchange?.(0, clock.monotonicMs() - startedMs, 0);
      this.#means.onFault?.(cause, thrown);
      return {
        request,
        reply: { kind: 'noReply', cause, sent: thrown instanceof TransportFailure && thrown.sent, receivedAtMs: clock.wallMs() },
      };
    }
  }

  /** Made anew for each reply: attaching may have rotated the credential. */
  #mask(): ReplyMask {
    return this.#means.credential.mask.forCall(this.#argsText, () => {
      if (this.#anomaly) return;
      this.#anomaly = true;
      this.#means.onAnomaly();
    });
  }
}

export type Fault = NoReply['cause'] | BodyFault;

interface Sent {
  /** As it went out, or would have. */
  readonly request: OutboundRequest;
  readonly status?: number;
  readonly reply: Reply | NoReply;
}

/**
 * Rows that were collected, and other sources, must not be lost because a credential is away for a moment or a token came
 * too late. Whatever else is wrong before sending is an error of the whole call.
 */
function causeOf(thrown: unknown, signal: AbortSignal): NoReply['cause'] {
  if (thrown instanceof TransportFailure) return thrown.kind;
  if (signal.aborted) return 'timedOut';
  if (thrown instanceof PosternError && thrown.reason === 'VAULT_LOCKED') return 'locked';
  throw thrown;
}

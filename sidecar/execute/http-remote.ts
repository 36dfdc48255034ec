/**
 * An HTTP remote with one credential: assemble, attach, send, mask, decode - in this order. The credential is put on
 * once the destination is final, and nothing of the reply is looked at before credentials are taken out of it.
 */

import type { Clock } from '#core/bounds/clock.ts';
import type { Exchange, NoReply, Reply } from '#core/completeness/exchange.ts';
import { type Assembled, assemble, assembleFollow } from '#core/contract/assemble.ts';
import type { JsonValue, RequestTemplate, ResultRules } from '#core/contract/compiled.ts';
import type { SlotValues } from '#core/contract/slot-value.ts';
import type { BindingCredential } from '#sidecar/credential/attach.ts';
import type { ReplyMask } from '#sidecar/credential/mask.ts';
import { decodeReply } from '#sidecar/decode/decode-reply.ts';
import { type RawReply, type Transport, TransportFailure } from './http/transport.ts';
import type { AskOptions, Remote } from './remote.ts';

export interface HttpRemoteMeans {
  readonly rules: ResultRules;
  readonly credential: BindingCredential;
  readonly transport: Transport;
  readonly clock: Clock;
  /** Canonical literal origin of a source that has its own. */
  readonly origin?: string;
  /** Reads may be sent again when a kept socket died without a byte of an answer. */
  readonly repeatable: boolean;
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

  async ask(template: RequestTemplate, values: SlotValues, options: AskOptions): Promise<Exchange> {
    const assembled = this.#assemble(template, values, options.follow);
    let reply = await this.#send(assembled, options);
    // A token may have been withdrawn before its time; one renewed try, still before anything was answered to the caller.
    if (reply.kind === 'reply' && reply.status === 401 && this.#means.credential.renew()) reply = await this.#send(assembled, options);
    return { sent: assembled.sent, reply };
  }

  #assemble(template: RequestTemplate, values: SlotValues, follow: string | undefined): Assembled {
    const at = this.#means.origin === undefined ? {} : { origin: this.#means.origin };
    return follow === undefined ? assemble(template, values, at) : assembleFollow(template, values, follow, at);
  }

  async #send(assembled: Assembled, options: AskOptions): Promise<Reply | NoReply> {
    const { credential, transport, rules, clock, repeatable } = this.#means;
    try {
      const attached = credential.attach(assembled.outbound, options.signal);
      const request = attached instanceof Promise ? await attached : attached;
      const raw: RawReply = await transport.send(request, {
        signal: options.signal,
        // Compressed bytes are fewer than decoded ones, or somebody is playing games.
        wireBytesMax: options.bodyBytesMax,
        bodyBytesMax: options.bodyBytesMax,
        repeatable,
      });
      return decodeReply(raw, rules, this.#mask(), clock.wallMs());
    } catch (thrown) {
      if (!(thrown instanceof TransportFailure)) throw thrown;
      return { kind: 'noReply', cause: thrown.kind, receivedAtMs: clock.wallMs() };
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

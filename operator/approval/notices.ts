/**
 * The outgoing webhook: one POST for each approval that begins to wait for a person, to one address that the operator's own settings name.
 *
 * At least once and best effort: the queue is bounded and in memory, a new leader tells once more what still waits, and whoever receives
 * knows a repetition by `id`. The body holds names, the sentence of the card and its digest: enough to find the card, nothing to decide
 * by - a decision is made with kubectl, under RBAC. Redirects are not followed and answers are not read: nothing comes back.
 *
 * With a key every body is signed: `postern-signature: t=<unix seconds>,v1=<hex of HMAC-SHA256 over "<t>.<body>">`.
 */
import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import { keyOf } from '#operator/kube/cache.ts';
import type { ApprovalRecord } from '#operator/kube/records.ts';

export interface NoticeTarget {
  /** `https://...`. */
  readonly url: string;
  /** PEM of the CAs to trust; undefined: those of the system. */
  readonly ca?: string;
  /** For the signature; undefined: none. */
  readonly key?: Uint8Array;
}

export interface NoticeMeans {
  readonly target: NoticeTarget;
  readonly clock: Clock;
  readonly random?: () => number;
  /** For metrics and the log; no text of the other side. MUST not throw. */
  onNotice(outcome: 'sent' | 'failed', status: number): void;
}

interface Waiting {
  readonly uid: string;
  readonly body: string;
}

export class Notices {
  readonly #means: NoticeMeans;
  readonly #agent: Agent;
  readonly #queue: Waiting[] = [];
  /** UIDs told or to be told, the oldest first. */
  readonly #known = new Set<string>();
  readonly #over = new AbortController();
  #running: Promise<void> | undefined;

  constructor(means: NoticeMeans) {
    const { ca } = means.target;
    const tls = { ...(ca === undefined ? {} : { ca }), minVersion: 'TLSv1.2' as const, timeout: limits.noticeMsMax };
    this.#means = means;
    this.#agent = new Agent({ connect: tls, connections: 1, pipelining: 1, allowH2: false, maxResponseSize: limits.noticeAnswerBytesMax });
  }

  /** Told once by this process, however often it is offered. */
  offer(approval: ApprovalRecord): void {
    if (this.#known.has(approval.uid) || this.#over.signal.aborted) return;
    if (this.#queue.length >= limits.noticesWaitingMax) {
      this.#means.onNotice('failed', 0);
      return;
    }
    this.#known.add(approval.uid);
    const [oldest] = this.#known;
    if (this.#known.size > limits.noticesWaitingMax * 10 && oldest !== undefined) this.#known.delete(oldest);
    this.#queue.push({ uid: approval.uid, body: JSON.stringify(noticeOf(approval)) });
    this.#running ??= this.#run();
  }

  /** Resolves once nothing is sent any more. */
  async stop(): Promise<void> {
    this.#over.abort();
    await this.#running;
    await this.#agent.destroy();
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined && !this.#over.signal.aborted; next = this.#queue.shift())
      await this.#deliver(next);
    this.#running = undefined;
  }

  async #deliver({ uid, body }: Waiting): Promise<void> {
    const { clock, random = Math.random, onNotice } = this.#means;
    let status = 0;
    for (let tries = 1; tries <= limits.noticeTriesMax; tries += 1) {
      status = await this.#post(uid, body);
      if (status >= 200 && status < 300) return onNotice('sent', status);
      // What it refuses as it stands it will refuse again.
      if ((status >= 300 && status < 500 && status !== 408 && status !== 429) || tries === limits.noticeTriesMax) break;
      const waitMs = Math.min(limits.noticeRetryMsMax, limits.noticeRetryMsMin * 2 ** (tries - 1)) * (0.5 + 0.5 * random());
      if (
        await clock.sleep(waitMs, this.#over.signal).then(
          () => false,
          () => true,
        )
      )
        return;
    }
    onNotice('failed', status);
  }

  /** Status of the answer; 0 when there was none. Never rejects. */
  async #post(uid: string, body: string): Promise<number> {
    const { target, clock } = this.#means;
    const one = new AbortController();
    const cancel = clock.alarm(limits.noticeMsMax, () => one.abort());
    const leave = () => one.abort();
    this.#over.signal.addEventListener('abort', leave, { once: true });
    try {
      const { statusCode, body: answer } = await request(target.url, {
        dispatcher: this.#agent,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'postern', 'postern-notice': uid, ...this.#signature(body) },
        body,
        signal: one.signal,
      });
      answer.on('error', () => {});
      await answer.dump({ limit: limits.noticeAnswerBytesMax, signal: one.signal }).catch(() => undefined);
      return statusCode;
    } catch {
      return 0;
    } finally {
      cancel();
      this.#over.signal.removeEventListener('abort', leave);
    }
  }

  #signature(body: string): Readonly<Record<string, string>> {
    const { key } = this.#means.target;
    if (key === undefined) return {};
    const seconds = Math.floor(this.#means.clock.wallMs() / 1000);
    return { 'postern-signature': `t=${seconds},v1=${createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex')}` };
  }
}

/** What is told; names of ours, one sanitized sentence. */
function noticeOf({ uid, namespace, name, sentence, spec }: ApprovalRecord): object {
  return {
    kind: 'postern.dev/approval-waiting.v1',
    id: uid,
    namespace,
    name,
    object: keyOf({ namespace, name }),
    purpose: spec.purpose,
    serviceAccount: spec.serviceAccount,
    contract: spec.contract,
    action: spec.action,
    sentence: visibleText(sentence, { chars: limits.noticeSentenceCharsMax }),
    cardDigest: spec.cardDigest,
    expiresAt: spec.expiresAt,
  };
}

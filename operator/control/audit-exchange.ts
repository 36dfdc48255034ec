/**
 * The audit of one sidecar: keys certified, heads witnessed, intents kept, uploads permitted. What a sidecar says of its log is checked and
 * never believed: one that was taken over gets receipts for one past alone, and room in the store at a pace (failure cases AUD-04, AUD-24).
 *
 * Epochs and heads are taken in their order, uploads too, intents a few at once. Nothing here waits for the peer. A sidecar that asks too
 * much at once is refused; one that floods loses its stream.
 */
import { hash } from 'node:crypto';
import { parseCheckpoint } from '#core/audit/checkpoint.ts';
import { chainFolder, intentObject } from '#core/audit/object-name.ts';
import { StoreFault } from '#core/audit/object-store.ts';
import { parseNote, parseVerifier, type VerifierKey } from '#core/audit/signed-note.ts';
import { limits } from '#core/bounds/limits.ts';
import { Rate } from '#core/bounds/rate.ts';
import { ControlRefusal } from '#core/wire/control-refusal.ts';
import type { SessionRecord } from '#operator/kube/records.ts';
import type { Allowance } from '#operator/witness/allowances.ts';
import { chainOrigin } from '#operator/witness/authority.ts';
import { judgeEpoch } from '#operator/witness/epochs.ts';
import { headText, witness } from '#operator/witness/heads.ts';
import { intentProblem } from '#operator/witness/intents.ts';
import { Permits } from '#operator/witness/permits.ts';
import { STORE_CURES } from '#operator/witness/store-watch.ts';
import type { AuditEpoch, AuditIntent, AuditUpload } from '#proto/postern/control/v1/control_pb.ts';
import { type AuditMeans, keepsIntents } from './audit-means.ts';
import { type AuditMessage, askedUpload, certificateTold, keptTold, permitTold, receiptTold, type Told } from './audit-messages.ts';
import { broken, certified, knownEpoch, knownHead, knownShipped, recorded, shipped, witnessed } from './audit-status.ts';
import type { StreamStatus } from './session-status.ts';

export interface AuditStream {
  readonly session: SessionRecord;
  /** As this stream knows it, written or not. */
  readonly status: StreamStatus;
  /** `soon`: written as soon as its turn comes, else with the next write, at most limits.auditHeadWriteMs later. */
  change(update: (status: StreamStatus, nowMs: number) => StreamStatus, soon: boolean): void;
  /** Resolves once what is in the status now is in the API server. Never, where the stream ends before. */
  written(): Promise<void>;
  /** There is something to send. */
  wake(): void;
}

export class AuditExchange {
  readonly #means: AuditMeans;
  readonly #stream: AuditStream;
  readonly #rate: Rate;
  readonly #origin: string;
  readonly #folder: string;
  readonly #allowance: Allowance;
  readonly #permits: Permits | undefined;
  readonly #outbox: Told[];
  /** Keys that this stream has seen certified, by epoch. */
  readonly #keys = new Map<number, VerifierKey>();
  readonly #intents: AuditIntent[] = [];
  #intentBytes = 0;
  #keeping = 0;
  #heads: Promise<void> = Promise.resolve();
  #uploads: Promise<void> = Promise.resolve();
  #questions = 0;
  readonly #stopWatching: (() => void) | undefined;
  #stopped = false;

  constructor(means: AuditMeans, stream: AuditStream) {
    this.#means = means;
    this.#stream = stream;
    const { clock, cluster, watch, readBack } = means;
    const { namespace, spec, uid, createdMs } = stream.session;
    this.#rate = new Rate(clock, limits.auditMessagesBurst, limits.auditMessagesPerSecond);
    this.#origin = chainOrigin(cluster, namespace, spec.pod.uid);
    this.#allowance = means.allowances.of(uid);
    // The day of its session: each replica finds the same folder, and nobody has to remember when a chain began.
    this.#folder = chainFolder({ cluster, namespace, session: spec.pod.uid, beganMs: createdMs });
    if (watch !== undefined && readBack !== undefined) {
      const shared = { clock, watch, readBack, allowance: this.#allowance, folder: this.#folder };
      this.#permits = new Permits(shared, knownShipped(stream.status));
    }
    const { recipients } = means.terms;
    const settings = {
      recipients: [...recipients],
      origin: this.#origin,
      shipped: watch !== undefined,
      keepsIntents: keepsIntents(means),
      storeRoots: watch?.store.roots ?? '',
    };
    this.#outbox = [{ case: 'auditSettings', value: settings }];
    const known = knownEpoch(stream.status);
    if (known !== undefined) this.#remember(known.epoch, known.key);
    const record = () => stream.change((status, nowMs) => recorded(status, stream.session, means, true, nowMs), true);
    this.#stopWatching = watch?.onChange(record);
    record();
  }

  /** Throws ControlRefusal for a sidecar that says too much. */
  take(message: AuditMessage): void {
    if (!this.#rate.take()) throw tooMany();
    // One answer read now and then keeps a stream alive; what waits for such a reader must not fill the operator.
    if (this.#outbox.length >= limits.controlAnswersUnreadMax)
      throw new ControlRefusal('READER_TOO_SLOW', 'Answers about the audit are not read; connect again.');
    if (message.case === 'auditIntent') {
      this.#takeIntent(message.value);
      return;
    }
    if (this.#questions >= limits.auditQuestionsWaitingMax) {
      this.#refuse(message);
      return;
    }
    this.#questions += 1;
    const run = this.#guarded(() => this.#answer(message));
    if (message.case === 'auditUpload') this.#uploads = this.#uploads.then(run);
    else this.#heads = this.#heads.then(run);
  }

  /** The next message down, if any: first of all the settings. */
  next(): Told | undefined {
    return this.#outbox.shift();
  }

  /** For the end of a replica: resolves once the head is where the next one finds it, or cannot be brought there in time. */
  async handOver(): Promise<void> {
    if (this.#stream.status.head?.sequence === this.#stream.session.status?.head?.sequence) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#means.clock.alarm(limits.controlDrainMs / 2, resolve);
    await Promise.race([this.#stream.written(), promise]);
    cancel();
  }

  stop(): void {
    this.#stopped = true;
    this.#intents.length = 0;
    this.#stopWatching?.();
  }

  async #answer(message: Exclude<AuditMessage, { case: 'auditIntent' }>): Promise<void> {
    if (message.case === 'auditEpoch') await this.#certify(message.value);
    else if (message.case === 'auditHead') this.#witness(message.value.checkpoint);
    else await this.#permit(message.value);
  }

  async #certify({ epoch, key }: AuditEpoch): Promise<void> {
    const asked = { origin: this.#origin, epoch, key };
    let verdict = judgeEpoch(knownEpoch(this.#stream.status), asked, this.#means.authority());
    if (verdict.kind === 'certified' && verdict.isNew) {
      // Before it is told: another replica must never answer for a second key of this epoch. It may have been faster.
      this.#stream.change((status) => certified(status, { epoch, key }), true);
      await this.#stream.written();
      verdict = judgeEpoch(knownEpoch(this.#stream.status), asked, this.#means.authority());
    }
    if (verdict.kind === 'refused') this.#means.observer?.refused?.('epoch', verdict.because);
    else this.#remember(epoch, key);
    this.#say(certificateTold(epoch, verdict));
  }

  #witness(checkpoint: string): void {
    const { authority, clock, observer } = this.#means;
    const known = knownHead(this.#stream.status);
    const before = this.#stream.status.audit?.conflict;
    const keyOf = (epoch: number) => this.#keys.get(epoch);
    const verdict = witness(checkpoint, { known, origin: this.#origin, keyOf, authority: authority(), nowMs: clock.wallMs() });
    if (verdict.kind === 'refused') {
      observer?.refused?.('head', verdict.because);
      this.#say(receiptTold(sizeIn(checkpoint), '', verdict.message));
    } else if (before !== undefined || verdict.kind === 'conflict') {
      if (before === undefined && verdict.kind === 'conflict' && known !== undefined) {
        const { relation: kind, head: shown } = verdict;
        this.#stream.change((status, nowMs) => broken(status, { kind, known, shown, note: checkpoint }, nowMs), true);
        observer?.conflict?.(this.#stream.session, kind, headText(known), headText(shown));
      }
      observer?.refused?.('head', 'conflict');
      this.#say(receiptTold(verdict.head.size, '', CONFLICT, before?.known ?? (known === undefined ? '' : headText(known))));
    } else {
      if (verdict.relation === 'grown') this.#stream.change((status, nowMs) => witnessed(status, verdict.head, nowMs), false);
      this.#say(receiptTold(verdict.head.size, verdict.note));
    }
  }

  async #permit(message: AuditUpload): Promise<void> {
    const { observer } = this.#means;
    if (this.#permits === undefined) {
      const verdict = { kind: 'refused', because: 'store', message: 'No audit store is set up; segments stay in the pod.' } as const;
      this.#say(permitTold(message, verdict, 0));
      return;
    }
    const verdict = await this.#permits.ask(askedUpload(message));
    if (verdict.kind === 'refused') observer?.refused?.('upload', verdict.because);
    if (verdict.kind === 'present' && verdict.stored) observer?.stored?.(Number(message.bytes));
    if (verdict.kind === 'present' && (verdict.stored || verdict.shipped !== undefined)) {
      const now = verdict.shipped ?? knownShipped(this.#stream.status);
      this.#stream.change((status, nowMs) => shipped(status, now, nowMs), verdict.shipped !== undefined);
    }
    this.#say(permitTold(message, verdict, this.#permits.next));
  }

  #takeIntent(intent: AuditIntent): void {
    const { length } = intent.frame;
    if (this.#intents.length >= limits.auditIntentsWaitingMax || this.#intentBytes + length > limits.auditIntentsWaitingBytesMax)
      throw tooMany();
    this.#intentBytes += length;
    this.#intents.push(intent);
    this.#keepNext();
  }

  #keepNext(): void {
    while (this.#keeping < limits.auditIntentsAtOnceMax) {
      const intent = this.#intents.shift();
      if (intent === undefined) return;
      this.#keeping += 1;
      void this.#keep(intent).finally(() => {
        this.#keeping -= 1;
        this.#intentBytes -= intent.frame.length;
        this.#keepNext();
      });
    }
  }

  /** Never rejects. */
  async #keep({ sequence, frame }: AuditIntent): Promise<void> {
    const { watch, observer } = this.#means;
    const refuse = (because: string, message: string) => {
      observer?.refused?.('intent', because);
      this.#say(keptTold(sequence, message));
    };
    if (watch === undefined || !keepsIntents(this.#means))
      return refuse('not_kept', 'This operator keeps no intents; the disk of the pod must do.');
    if (watch.state !== 'safe') return refuse('store', STORE_CURES[watch.state]);
    const problem = intentProblem(Number(sequence), frame);
    if (problem !== undefined) return refuse('malformed', problem);
    if (!this.#allowance.takeBytes(frame.length))
      return refuse('too_much', 'This session stores more than its share; it goes on at a slower pace.');
    try {
      const name = `${this.#folder}${intentObject(Number(sequence))}`;
      await watch.store.create({ name, bytes: frame, sha256: hash('sha256', frame, 'buffer') });
      observer?.kept?.(frame.length);
      this.#say(keptTold(sequence));
    } catch (error) {
      if (!(error instanceof StoreFault)) observer?.failed?.(this.#stream.session, error);
      refuse(
        error instanceof StoreFault ? error.kind : 'store',
        'The audit store did not take the intent, so nothing was sent. Call again.',
      );
    }
  }

  /** Too much at once, of a kind that is asked again. */
  #refuse(message: Exclude<AuditMessage, { case: 'auditIntent' }>): void {
    const busy = 'Too many questions about the audit wait for their answer; ask again.';
    if (message.case === 'auditEpoch')
      this.#say(certificateTold(message.value.epoch, { kind: 'refused', because: 'malformed', message: busy }));
    else if (message.case === 'auditHead') this.#say(receiptTold(sizeIn(message.value.checkpoint), '', busy));
    else this.#say(permitTold(message.value, { kind: 'refused', because: 'too_much', message: busy }, this.#permits?.next ?? 0));
  }

  #guarded(run: () => Promise<void>): () => Promise<void> {
    return async () => {
      try {
        if (!this.#stopped) await run();
      } catch (error) {
        this.#means.observer?.failed?.(this.#stream.session, error);
      } finally {
        this.#questions -= 1;
      }
    };
  }

  #remember(epoch: number, key: string): void {
    const verifier = parseVerifier(key);
    if (verifier !== undefined) this.#keys.set(epoch, verifier);
    const [oldest] = this.#keys.keys();
    if (this.#keys.size > limits.auditEpochKeysMax && oldest !== undefined) this.#keys.delete(oldest);
  }

  #say(message: Told): void {
    if (this.#stopped) return;
    this.#outbox.push(message);
    this.#stream.wake();
  }
}

const CONFLICT = 'This head does not fit the one that was witnessed before; nothing of this chain is witnessed any more.';

/** What a refusal is about; 0 where nobody can tell. */
function sizeIn(checkpoint: string): number {
  const note = parseNote(checkpoint);
  return (note === undefined ? undefined : parseCheckpoint(note.text))?.size ?? 0;
}

function tooMany(): ControlRefusal {
  return new ControlRefusal('TOO_MANY', 'Too many messages about the audit; wait for the answers.');
}

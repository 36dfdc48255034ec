/**
 * The operator as the authority of a chain: it answers for the keys of epochs, witnesses checkpoints, keeps intents. What it sends is held
 * against what was asked, because it goes into the chain, where a note of something else would be a break.
 */
import { type Certificate, certificateText, parseCheckpoint } from '#core/audit/checkpoint.ts';
import { hasCosignature, parseNote, verifierText } from '#core/audit/signed-note.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { AuditCertificate, AuditIntentKept, AuditReceipt } from '#proto/postern/control/v1/control_pb.ts';
import type { Authority } from '#sidecar/audit/authority.ts';
import { OpenQuestions } from './open-questions.ts';
import type { ControlMessage } from './stream.ts';

export interface OperatorAuthorityOptions {
  readonly clock: Clock;
  send(message: ControlMessage): void;
  /** Whether effects wait for it. */
  keepsIntents(): boolean;
}

export class OperatorAuthority implements Authority {
  readonly #keepsIntents: () => boolean;
  readonly #certificates: OpenQuestions<string>;
  readonly #receipts: OpenQuestions<string>;
  readonly #intents: OpenQuestions<void>;

  constructor({ clock, send, keepsIntents }: OperatorAuthorityOptions) {
    this.#keepsIntents = keepsIntents;
    const questions = { clock, waitMs: limits.auditAuthorityMs, say: send };
    this.#certificates = new OpenQuestions({
      ...questions,
      late: () => unavailable('The operator did not certify the key of this epoch in time; it is asked again.'),
    });
    this.#receipts = new OpenQuestions({
      ...questions,
      late: () => unavailable('The operator did not witness the head of the chain in time; it is asked again.'),
    });
    this.#intents = new OpenQuestions({
      ...questions,
      late: () => unavailable('The operator did not keep the intent in time, so nothing was sent. Call again.'),
    });
  }

  async certify(certificate: Certificate): Promise<string> {
    const { epoch, key } = certificate;
    const message: ControlMessage = { case: 'auditEpoch', value: { epoch, key: verifierText(key) } };
    const note = await this.#certificates.ask(String(epoch), message);
    if (parseNote(note)?.text === certificateText(certificate)) return note;
    throw unavailable('The operator certified something else than the key of this epoch.');
  }

  readonly witness = async (checkpoint: string): Promise<string> => {
    const text = parseNote(checkpoint)?.text;
    const size = text === undefined ? undefined : parseCheckpoint(text)?.size;
    if (size === undefined) throw new RangeError('no checkpoint');
    const note = await this.#receipts.ask(String(size), { case: 'auditHead', value: { checkpoint } });
    const receipt = parseNote(note);
    if (receipt !== undefined && receipt.text === text && hasCosignature(receipt)) return note;
    throw unavailable('The operator witnessed something else than the head of this chain.');
  };

  get keep(): ((sequence: number, frame: Uint8Array) => Promise<void>) | undefined {
    return this.#keepsIntents() ? this.#keep : undefined;
  }

  readonly #keep = async (sequence: number, frame: Uint8Array): Promise<void> => {
    if (frame.length > limits.auditIntentBytesMax)
      throw unavailable('This intent was written together with too many others for the operator to keep; nothing was sent. Call again.');
    await this.#intents.ask(String(sequence), { case: 'auditIntent', value: { sequence: BigInt(sequence), frame } });
  };

  certified({ epoch, note, refused }: AuditCertificate): void {
    const key = String(epoch);
    if (refused === undefined) this.#certificates.answer(key, note);
    else this.#certificates.refuse(key, unavailable(refused.message));
  }

  witnessed({ size, note, known, refused }: AuditReceipt): void {
    const key = String(size);
    if (known !== '')
      this.#receipts.refuse(
        key,
        new PosternError(
          'AUDIT_UNAVAILABLE',
          'The operator has witnessed another head of this chain; both are in the log of the operator.',
          {
            details: { conflict: known },
          },
        ),
      );
    else if (refused !== undefined) this.#receipts.refuse(key, unavailable(refused.message));
    else this.#receipts.answer(key, note);
  }

  kept({ sequence, refused }: AuditIntentKept): void {
    const key = String(sequence);
    if (refused === undefined) this.#intents.answer(key, undefined);
    else this.#intents.refuse(key, unavailable(refused.message));
  }

  sayAgain(): void {
    this.#certificates.sayAgain();
    this.#receipts.sayAgain();
    this.#intents.sayAgain();
  }

  refuseAll(because: string): void {
    for (const questions of [this.#certificates, this.#receipts, this.#intents]) questions.refuseAll(() => unavailable(because));
  }
}

function unavailable(message: string): PosternError {
  return new PosternError('AUDIT_UNAVAILABLE', message === '' ? 'The operator refused it without a word.' : message);
}

/**
 * Where a controlled sidecar ships to: the operator's store, which it reaches by permits for one object at a time. It holds no credential
 * of the store, and cannot write anything but the next object of its own chain.
 *
 *   asked -> present                                               stored before, such as by a process that died before it was noted
 *         -> permit -> PUT -> 200, 201 -> told, and noted          created
 *                          -> 412      -> asked again               present, or refused: the name has other bytes
 *                          -> 403      -> asked again, once         a permit that ended on its way
 */

import { type Creation, StoreFault } from '#core/audit/object-store.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { AuditObject, type AuditPermit } from '#proto/postern/control/v1/control_pb.ts';
import { type Permit, PutFault, putPermitted } from '#sidecar/audit/permitted-put.ts';
import type { SegmentSink, ShippedObject } from '#sidecar/audit/segment-sink.ts';
import { OpenQuestions } from './open-questions.ts';
import type { ControlMessage } from './stream.ts';

export interface PermitSinkOptions {
  readonly clock: Clock;
  send(message: ControlMessage): void;
  /** Default putPermitted. */
  readonly put?: (permit: Permit, bytes: Uint8Array, signal: AbortSignal) => Promise<number>;
}

export class PermitSink implements SegmentSink {
  readonly #put: NonNullable<PermitSinkOptions['put']>;
  readonly #questions: OpenQuestions<AuditPermit>;
  #roots: string | undefined;

  constructor({ clock, send, put }: PermitSinkOptions) {
    this.#put = put ?? putPermitted;
    this.#questions = new OpenQuestions({
      clock,
      waitMs: limits.auditAuthorityMs,
      say: send,
      late: () => new StoreFault('unavailable', 'No operator answered for the store in time.'),
    });
  }

  async put(object: ShippedObject, signal: AbortSignal): Promise<Creation> {
    let permit = await this.#ask(object, false, signal);
    for (let put = 0; permit.url !== ''; put += 1) {
      const status = await this.#send(permit, object, signal);
      if (status === 200 || status === 201) {
        // Told again as a question for a permit where its answer is lost, and then it is present.
        await this.#ask(object, true, signal);
        return 'created';
      }
      if (put > 0 || (status !== 412 && status !== 403)) throw faultOf(status);
      permit = await this.#ask(object, false, signal);
    }
    if (permit.present) return 'present';
    throw new StoreFault('unavailable', 'The operator gave neither a permit nor a reason.');
  }

  /** From now on these CAs alone vouch for the store, as PEM; empty: those of the system. */
  trust(roots: string): void {
    this.#roots = roots === '' ? undefined : roots;
  }

  heard(permit: AuditPermit): void {
    const key = keyOf(permit);
    if (permit.refused === undefined) this.#questions.answer(key, permit);
    else this.#questions.refuse(key, refusalOf(permit.refused));
  }

  sayAgain(): void {
    this.#questions.sayAgain();
  }

  refuseAll(because: string): void {
    this.#questions.refuseAll(() => new StoreFault('unavailable', because));
  }

  async #ask(object: ShippedObject, stored: boolean, signal: AbortSignal): Promise<AuditPermit> {
    const { number, bytes, sha256, firstSequence, lastSequence } = object;
    const value = {
      object: object.kind === 'manifest' ? AuditObject.MANIFEST : AuditObject.SEGMENT,
      number: BigInt(number),
      bytes: BigInt(bytes.length),
      sha256,
      firstSequence: BigInt(firstSequence),
      lastSequence: BigInt(lastSequence),
      stored,
    };
    if (signal.aborted) throw givenUp();
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = () => reject(givenUp());
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await Promise.race([this.#questions.ask(keyOf(value), { case: 'auditUpload', value }), aborted]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  async #send({ url, headers }: AuditPermit, { bytes }: ShippedObject, signal: AbortSignal): Promise<number> {
    try {
      return await this.#put({ url, headers, ...(this.#roots === undefined ? {} : { roots: this.#roots }) }, bytes, signal);
    } catch (thrown) {
      if (!(thrown instanceof PutFault)) throw thrown;
      switch (thrown.kind) {
        case 'address':
          throw new StoreFault(
            'refused',
            'The permit names no https address, and no literal address inside the cluster; mend the endpoint of the store at the operator.',
          );
        case 'aborted':
          throw givenUp();
        case 'timeout':
          throw new StoreFault('unavailable', `The store did not take the object within ${limits.auditUploadMs} ms.`, thrown.cause);
        case 'connection':
          throw new StoreFault('unavailable', 'The store cannot be reached, or broke the connection off.', thrown.cause);
      }
    }
  }
}

function keyOf({ object, number }: { readonly object: AuditObject; readonly number: bigint }): string {
  return `${object}/${number}`;
}

function givenUp(): StoreFault {
  return new StoreFault('unavailable', 'The upload was given up.');
}

/** The operator says with the codes of calls what a store would say with a status. */
function refusalOf({ code, message }: { readonly code: string; readonly message: string }): StoreFault {
  const kind =
    code === 'IDEMPOTENCY_CONFLICT' ? 'occupied' : code === 'AUDIT_UNAVAILABLE' || code === 'CONTROL_STALE' ? 'unavailable' : 'refused';
  return new StoreFault(kind, message === '' ? 'The operator gave no permit.' : message);
}

function faultOf(status: number): StoreFault {
  // 409: somebody writes the same name at this moment.
  if (status >= 500 || status === 408 || status === 409 || status === 429)
    return new StoreFault('unavailable', `The store answered ${status}; it is asked again.`);
  if (status === 412) return new StoreFault('occupied', 'The store has other bytes under the name of this object.');
  if (status >= 300 && status < 400)
    return new StoreFault('refused', `The store answered ${status}, which is not followed; mend its endpoint and region at the operator.`);
  return new StoreFault('refused', `The store answered ${status}; see the rights of the operator's key, and the clock of the operator.`);
}

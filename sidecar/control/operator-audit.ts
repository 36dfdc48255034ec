/**
 * The operator as what a sidecar's audit needs from outside, over whatever control stream stands: terms, an authority, a store by permits.
 * What was asked and not answered is said again on the next stream. While none stands, records go on, and what is shipped waits on disk.
 *
 * An operator of a protocol before 3 knows no audit: nothing is recorded, which a person is told once, unless an operator of this process has
 * said otherwise; an upgrade that goes back must not end a chain in silence.
 */
import { isOrigin } from '#core/audit/checkpoint.ts';
import { RECIPIENT } from '#core/audit/statement.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Log } from '#core/runtime/log.ts';
import { AUDIT_SINCE } from '#core/wire/control-protocol.ts';
import type { AuditSettings } from '#proto/postern/control/v1/control_pb.ts';
import type { AuditControl, AuditTerms } from '#sidecar/audit/audit-control.ts';
import type { Permit } from '#sidecar/audit/permitted-put.ts';
import { OperatorAuthority } from './audit-authority.ts';
import { PermitSink } from './permit-sink.ts';
import type { ControlMessage, OperatorMessage } from './stream.ts';

export interface OperatorAuditOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Forgotten where no stream stands. */
  send(message: ControlMessage): void;
  readonly put?: (permit: Permit, bytes: Uint8Array, signal: AbortSignal) => Promise<number>;
}

const NOTHING: AuditTerms = { recipients: [], origin: '', shipped: false, keepsIntents: false };

export class OperatorAudit implements AuditControl {
  readonly authority: OperatorAuthority;
  readonly sink: PermitSink;
  readonly #options: OperatorAuditOptions;
  readonly #listeners = new Set<(terms: AuditTerms) => void>();
  #terms: AuditTerms | undefined;
  #warned = false;
  /** Of the stream that stands; 0 when none does. */
  #protocol = 0;

  constructor(options: OperatorAuditOptions) {
    this.#options = options;
    const { clock, put } = options;
    const send = (message: ControlMessage) => this.#send(message);
    this.authority = new OperatorAuthority({ clock, send, keepsIntents: () => this.#terms?.keepsIntents ?? false });
    this.sink = new PermitSink({ clock, send, ...(put === undefined ? {} : { put }) });
  }

  terms(): AuditTerms | undefined {
    return this.#terms;
  }

  onTerms(listener: (terms: AuditTerms) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A stream stands. What it speaks decides whether anything is said. */
  welcomed(protocol: number): void {
    this.#protocol = protocol;
    if (protocol >= AUDIT_SINCE) {
      this.authority.sayAgain();
      this.sink.sayAgain();
      return;
    }
    this.authority.refuseAll(TOO_OLD);
    this.sink.refuseAll(TOO_OLD);
    if (!this.#warned) this.#options.log.warn('the operator is of a release that knows no audit; upgrade it');
    this.#warned = true;
    if (this.#terms === undefined) this.#become(NOTHING);
  }

  /** No stream stands; what waits for an answer goes on waiting for the next one. */
  ended(): void {
    this.#protocol = 0;
  }

  /** MUST return at once. */
  heard(message: OperatorMessage): void {
    switch (message.case) {
      case 'auditSettings':
        this.#heardSettings(message.value);
        break;
      case 'auditCertificate':
        this.authority.certified(message.value);
        break;
      case 'auditReceipt':
        this.authority.witnessed(message.value);
        break;
      case 'auditIntentKept':
        this.authority.kept(message.value);
        break;
      case 'auditPermit':
        this.sink.heard(message.value);
        break;
    }
  }

  /** Terms that cannot be kept leave those before: a chain that stops at a typo is what an attacker would write. */
  #heardSettings({ recipients, origin, shipped, keepsIntents, storeRoots }: AuditSettings): void {
    const known = this.#terms?.origin ?? '';
    const readable = recipients.length <= limits.auditRecipientsMax && recipients.every((recipient) => RECIPIENT.test(recipient));
    const good = readable && isOrigin(origin) && storeRoots.length <= limits.auditStoreRootsBytesMax;
    if (!good || (known !== '' && known !== origin)) {
      this.#options.log.error('the operator sent settings of the audit that cannot be kept; those before stay');
      return;
    }
    this.sink.trust(storeRoots);
    const terms = { recipients: [...recipients], origin, shipped, keepsIntents };
    if (JSON.stringify(terms) !== JSON.stringify(this.#terms)) this.#become(terms);
  }

  #become(terms: AuditTerms): void {
    this.#terms = terms;
    for (const listener of this.#listeners) listener(terms);
  }

  #send(message: ControlMessage): void {
    if (this.#protocol >= AUDIT_SINCE) this.#options.send(message);
  }
}

const TOO_OLD = 'The operator is of a release that knows no audit; upgrade it.';

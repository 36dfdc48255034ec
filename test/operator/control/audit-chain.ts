/** A sidecar's chain as far as the operator sees of one: keys, heads, intents, objects to upload. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { request } from 'undici';
import { epochKeyName, signCheckpoint } from '#core/audit/checkpoint.ts';
import { encodeFrame, originHash } from '#core/audit/frame.ts';
import { makeSigningKey, type SigningKey, verifierText } from '#core/audit/signed-note.ts';
import {
  type AuditCertificate,
  type AuditIntentKept,
  AuditObject,
  type AuditPermit,
  type AuditReceipt,
} from '#proto/postern/control/v1/control_pb.ts';
import type { Agent, ControlRig, Replica } from './control-rig.ts';
import { type TestSidecar, until } from './test-sidecar.ts';

export class Chain {
  readonly sidecar: TestSidecar;
  readonly origin: string;
  readonly key: SigningKey;

  constructor(rig: ControlRig, agent: Agent, replica: Replica, key?: SigningKey) {
    this.sidecar = rig.sidecar(replica, agent, { protocols: [1, 2, 3] });
    this.origin = `postern.dev/audit/cluster/agents/${agent.uid}`;
    this.key = key ?? makeSigningKey(epochKeyName(this.origin, 1));
  }

  async certify(epoch = 1, key = this.key): Promise<{ note: string; refused: string | undefined }> {
    const { note, refused } = await this.#ask('auditCertificate', { case: 'auditEpoch', value: { epoch, key: verifierText(key) } });
    return { note, refused: refused?.message };
  }

  show(size: number, text: string): Promise<AuditReceipt> {
    const head = { origin: this.origin, size, hash: digest(text), epoch: 1, time: '2026-12-01T00:00:00Z' };
    return this.#ask('auditReceipt', { case: 'auditHead', value: { checkpoint: signCheckpoint(head, this.key) } });
  }

  async keep(sequence: number, frame: Uint8Array): Promise<string | undefined> {
    const kept = await this.#ask('auditIntentKept', { case: 'auditIntent', value: { sequence: BigInt(sequence), frame } });
    return kept.refused?.message;
  }

  upload(number: number, content: string, [first, last]: readonly [number, number], stored = false): Promise<AuditPermit> {
    const bytes = Buffer.from(content);
    const value = {
      object: number === 0 ? AuditObject.MANIFEST : AuditObject.SEGMENT,
      number: BigInt(number),
      bytes: BigInt(bytes.length),
      sha256: digest(content),
      firstSequence: BigInt(first),
      lastSequence: BigInt(last),
      stored,
    };
    return this.#ask('auditPermit', { case: 'auditUpload', value });
  }

  /** Every answer of a kind is to the question before: one is asked at a time. */
  async #ask<Kind extends keyof Answers>(kind: Kind, message: Parameters<TestSidecar['send']>[0]): Promise<Answers[Kind]> {
    const answers = () => this.sidecar.messages.filter((heard) => heard.case === kind);
    const count = answers().length;
    this.sidecar.send(message);
    await until(() => answers().length > count || this.sidecar.over, kind);
    assert.ok(answers().length > count, `the stream ended: ${this.sidecar.over}`);
    return answers().at(-1)?.value as Answers[Kind];
  }
}

interface Answers {
  readonly auditCertificate: AuditCertificate;
  readonly auditReceipt: AuditReceipt;
  readonly auditIntentKept: AuditIntentKept;
  readonly auditPermit: AuditPermit;
}

export function digest(text: string | Uint8Array): Buffer {
  return hash('sha256', text, 'buffer');
}

export function intentFrame(chain: Chain, sequence: number): Uint8Array {
  const start = { sequence, epoch: 1, timeMs: 1_796_083_200_000, previous: originHash(chain.origin) };
  return encodeFrame(start, { form: 'sealed', heads: [{ kind: 'intent' }], body: Buffer.from('age-encryption.org/v1\n') }).bytes;
}

export async function put({ url, headers }: AuditPermit, content: string | Uint8Array): Promise<number> {
  const named = Object.fromEntries(headers.map(({ name, value }) => [name, value]));
  const { statusCode, body } = await request(url, { method: 'PUT', headers: named, body: Buffer.from(content) });
  await body.dump();
  return statusCode;
}

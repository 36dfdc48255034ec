/** Chains on disk whose records are really sealed, and the key file of who reads them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import type { SealedKind } from '#core/audit/frame.ts';
import { createFrameSealer } from '#core/audit/seal.ts';
import { ChainRig } from '#test/core/audit/chain-rig.ts';

export interface Reader {
  readonly recipient: string;
  readonly keyFile: string;
}

/** A key file as age-keygen writes it. */
export async function makeReader(folder: string, name: string, mode = 0o600): Promise<Reader> {
  const identity = await generateIdentity();
  const recipient = await identityToRecipient(identity);
  const keyFile = join(folder, name);
  writeFileSync(keyFile, `# created: 2026-12-01T08:00:00Z\n# public key: ${recipient}\n${identity}\n`, { mode });
  return { recipient, keyFile };
}

/** One frame of records, sealed to the recipients of the rig. */
export async function sealRecords(rig: ChainRig, ...records: readonly object[]): Promise<void> {
  const lines = records.map((record, index) => JSON.stringify({ at: new Date(rig.timeMs + index).toISOString(), ...record }));
  const body = await createFrameSealer(rig.recipients).seal(`${lines.join('\n')}\n`);
  const heads = records.map((record) => ({ kind: Reflect.get(record, 'record') as SealedKind }));
  rig.add({ form: 'sealed', heads, body });
}

export function startChain(recipients: readonly string[], origin?: string): ChainRig {
  const rig = new ChainRig(origin);
  rig.recipients = recipients;
  return rig.beginEpoch();
}

export function writeChain(folder: string, rig: ChainRig): void {
  mkdirSync(folder, { recursive: true });
  for (const [index, file] of rig.files.entries()) writeFileSync(join(folder, `${String(index + 1).padStart(10, '0')}.seg`), file);
}

/**
 * `node bench/audit-verify.ts`: how fast a chain is verified, beside SHA-256 of the same bytes read from the same files in the same run: less
 * than that no verifier can do, and ours hashes each byte twice, as frame and as segment. Not part of `npm run bench`.
 *
 *   node bench/audit-verify.ts [FOLDER]
 */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { createReadStream, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bech32 } from '@scure/base';
import { certify, epochKeyName, signCheckpoint } from '#core/audit/checkpoint.ts';
import { encodeFrame, type FrameContent, originHash, type SealedKind, type StatementKind } from '#core/audit/frame.ts';
import { createFrameSealer } from '#core/audit/seal.ts';
import { makeSigningKey, verifierText } from '#core/audit/signed-note.ts';
import { statementBody } from '#core/audit/statement.ts';
import { ChainVerifier } from '#core/audit/verify.ts';
import { limits } from '#core/bounds/limits.ts';

const CHAIN_BYTES = 256 * 1024 * 1024;
const ROUNDS = 3;
const MIB = 1024 * 1024;
/** As `postern audit verify` reads. */
const PIECE_BYTES = 256 * 1024;
const ORIGIN = 'postern.dev/audit/bench';
const TEXT = `${JSON.stringify({ text: 'x'.repeat(500) })}\n`;
const OPERATION = `op_${'a'.repeat(26)}`;
const folder = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'postern-verify-bench-'));
const authority = makeSigningKey('postern.dev/authority/bench');
const recipient = bech32.encodeFromBytes(
  'age',
  generateKeyPairSync('x25519').publicKey.export({ format: 'der', type: 'spki' }).subarray(-32),
);

/** Segments as a sidecar writes them, with `records` a frame: one epoch, a checkpoint every limits.auditCheckpointRecords. */
async function writeChain(name: string, records: number): Promise<readonly string[]> {
  const body = await createFrameSealer([recipient]).seal(TEXT.repeat(records));
  const heads = Array.from({ length: records }, () => ({ kind: 'intent' as SealedKind, operationId: OPERATION }));
  const key = makeSigningKey(epochKeyName(ORIGIN, 1));
  const files: string[] = [];
  let [sequence, previous, total, unsigned]: [number, Uint8Array, number, number] = [1, originHash(ORIGIN), 0, 0];
  let before: { readonly bytes: number; readonly sha256: string } | undefined;
  const frame = (content: FrameContent): Buffer => {
    const made = encodeFrame({ sequence, epoch: 1, timeMs: Date.now(), previous }, content);
    sequence += content.heads.length;
    previous = made.hash;
    return Buffer.from(made.bytes);
  };
  const statement = (kind: StatementKind, text: string | Uint8Array) =>
    frame({ form: 'statement', heads: [{ kind }], body: Buffer.from(text) });
  const time = () => new Date().toISOString();
  const checkpoint = () =>
    statement('checkpoint', signCheckpoint({ origin: ORIGIN, size: sequence - 1, hash: previous, epoch: 1, time: time() }, key));
  while (total < CHAIN_BYTES) {
    const of = { origin: ORIGIN, segment: files.length + 1, epoch: 1, key: verifierText(key), recipients: [recipient], opened_at: time() };
    const frames = [
      statement('segment', statementBody({ format: 'postern-audit/1', ...of, ...(before ? { previous_segment: before } : {}) })),
    ];
    if (files.length === 0) frames.push(checkpoint(), statement('certificate', certify({ origin: ORIGIN, epoch: 1, key }, authority)));
    for (let bytes = 0; bytes < limits.auditSegmentBytes; bytes += frames.at(-1)?.length ?? 0) {
      frames.push(frame({ form: 'sealed', heads, body }));
      unsigned += records;
      if (unsigned < limits.auditCheckpointRecords) continue;
      frames.push(checkpoint());
      unsigned = 0;
    }
    const segment = Buffer.concat(frames);
    before = { bytes: segment.length, sha256: createHash('sha256').update(segment).digest('hex') };
    files.push(join(folder, `${name}-${String(files.length + 1).padStart(10, '0')}.seg`));
    writeFileSync(files.at(-1) ?? '', segment);
    total += segment.length;
  }
  return files;
}

async function seconds(files: readonly string[], each: (file: string) => Promise<void>): Promise<number> {
  const start = performance.now();
  for (const file of files) await each(file);
  return (performance.now() - start) / 1000;
}

async function hashed(file: string): Promise<void> {
  const digest = createHash('sha256');
  for await (const piece of createReadStream(file, { highWaterMark: PIECE_BYTES })) digest.update(piece as Buffer);
  digest.digest();
}

async function verified(files: readonly string[]): Promise<number> {
  const verifier = new ChainVerifier({ keys: [authority] });
  const took = await seconds(files, async (file) => {
    verifier.begin(statSync(file).size);
    for await (const piece of createReadStream(file, { highWaterMark: PIECE_BYTES })) verifier.push(piece as Buffer);
    verifier.end();
  });
  const { good, broken, signature } = verifier.verdict();
  if (!good) throw new Error(broken?.sentence ?? signature.sentence);
  return took;
}

const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

try {
  for (const records of [1, 16, 256]) {
    const files = await writeChain(String(records), records);
    const mib = files.reduce((sum, file) => sum + statSync(file).size, 0) / MIB;
    const [bare, ours]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      bare.push(mib / (await seconds(files, hashed)));
      ours.push(mib / (await verified(files)));
    }
    const [sha, verify] = [middle(bare), middle(ours)].map(Math.round);
    console.log(
      `${records} records a frame, ${Math.round(mib)} MiB: verified ${verify} MiB/s; SHA-256 alone ${sha} MiB/s; memory ${Math.round(process.memoryUsage().rss / MIB)} MiB`,
    );
    for (const file of files) rmSync(file);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

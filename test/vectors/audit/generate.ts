/**
 * All published vectors as files: `<name>/*` and `expected.json`, by which a third party can try a verifier. Nothing here asks a verifier:
 * what must come of each is said by who made the damage.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { verifierText } from '#core/audit/signed-note.ts';
import { DAMAGED_BYTES } from './damaged-bytes.ts';
import { AUTHORITY } from './good-chain.ts';
import { HELD_AGAINST_HEADS } from './heads.ts';
import { MISWRITTEN_FRAMES } from './miswritten-frames.ts';
import { MISWRITTEN_STATEMENTS } from './miswritten-statements.ts';
import { RELINKED } from './relinked.ts';
import { RESEALED } from './resealed.ts';
import type { Vector } from './vector.ts';

export const VECTORS: readonly Vector[] = [
  ...HELD_AGAINST_HEADS,
  ...DAMAGED_BYTES,
  ...RELINKED,
  ...RESEALED,
  ...MISWRITTEN_STATEMENTS,
  ...MISWRITTEN_FRAMES,
];
export const VECTORS_FOLDER = import.meta.dirname;

export interface PublishedVector {
  readonly name: string;
  readonly about: string;
  readonly case: string | undefined;
  /** Folder with the segments. */
  readonly chain: string;
  readonly heads: readonly string[];
  readonly with_key: boolean;
  readonly expect: {
    readonly exit: 0 | 1;
    readonly records: number;
    readonly broken_at: number | null;
    readonly signature: string;
    readonly signature_at: number | null;
    readonly tail: string;
    readonly clock_skew_at: readonly number[];
  };
}

/** Where the good chain is signed to, for a chain that is good up to before a sequence; 0: nowhere. */
function signedTo(brokenAt: number): number {
  // Checkpoints stand at these records; that of epoch 1 counts once its certificate has been read, at 3, those of 2 and 3 from 21 and 22 on.
  const checkpoints = [2, 8, 10, ...(brokenAt > 21 ? [12, 16] : []), ...(brokenAt > 22 ? [20, 25, 28] : [])];
  return brokenAt <= 3 ? 0 : Math.max(...checkpoints.filter((sequence) => sequence < brokenAt)) - 1;
}

export function published(vector: Vector): PublishedVector {
  const { expect, heads = [], name } = vector;
  const records = expect.records ?? (expect.broken_at === undefined ? 28 : expect.broken_at - 1);
  const to = signedTo(expect.broken_at ?? records + 1);
  const signature = expect.signature ?? (to === 0 ? 'INVALID' : 'valid');
  const tail = expect.tail ?? 'not checked';
  const good = expect.broken_at === undefined && signature !== 'INVALID' && (tail === 'complete' || tail === 'not checked');
  return {
    ...{ name, about: vector.about, case: vector.case, chain: `${name}/chain`, with_key: signature !== 'not checked' },
    heads: heads.map((_, index) => `${name}/head-${index + 1}.note`),
    expect: {
      ...{ exit: good ? 0 : 1, records, broken_at: expect.broken_at ?? null, signature, tail },
      signature_at: signature === 'not checked' ? null : (expect.signature_at ?? (to === 0 ? 1 : to)),
      clock_skew_at: expect.clock_skew_at ?? [],
    },
  };
}

/** Path, below the vectors' folder, and bytes of every file. */
export function vectorFiles(): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  for (const vector of VECTORS) {
    for (const [name, bytes] of vector.files) files.set(`${vector.name}/chain/${name}`, bytes);
    for (const [index, note] of (vector.heads ?? []).entries()) files.set(`${vector.name}/head-${index + 1}.note`, Buffer.from(note));
  }
  const manifest = { format: 'postern-audit-vectors/1', key: verifierText(AUTHORITY), vectors: VECTORS.map(published) };
  files.set('expected.json', Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`));
  return files;
}

export function writeVectors(into: string): void {
  for (const vector of VECTORS) rmSync(join(into, vector.name), { recursive: true, force: true });
  for (const [path, bytes] of vectorFiles()) {
    mkdirSync(dirname(join(into, path)), { recursive: true });
    writeFileSync(join(into, path), bytes);
  }
}

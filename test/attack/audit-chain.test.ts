/**
 * Goal: to change, cut or mix a chain so that one verifier calls it whole, or the two differ; or to raise an alarm over a whole chain.
 * Method: random chains, made as a writer makes them, and random damage: bits, frames and segments dropped, swapped, doubled, cut at any
 * byte, spliced from a fork and from another chain. FORMAT.md is held to as well: hostile folders, lengths and labels.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { verifierText } from '#core/audit/signed-note.ts';
import { findPython } from '#test/clients/python/python.ts';
import { type Draft, link } from '#test/vectors/audit/chain-draft.ts';
import { AUTHORITY, draftsOf, type Keys, keysOf, ORIGIN, OTHER_ORIGIN, SEALED } from '#test/vectors/audit/good-chain.ts';
import { filesOf, GOOD, segmentName } from '#test/vectors/audit/vector.ts';
import { type PythonVerifier, startPythonVerifier, VERIFIER } from '#test/verifier/python-verifier.ts';
import { type Told, toldByOurs, toldByPython, verdictOf } from '#test/verifier/verdicts.ts';

const run = promisify(execFile);
const KEY = verifierText(AUTHORITY);
const folder = mkdtempSync(join(tmpdir(), 'audit-chain-'));
let interpreter = '';
let python: PythonVerifier | undefined;
let missing = '';

before(async () => {
  const found = await findPython();
  if ('missing' in found) missing = found.missing;
  else {
    interpreter = found.python;
    python = startPythonVerifier(interpreter);
  }
});

after(async () => {
  await python?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

type Files = ReadonlyMap<string, Uint8Array>;

/** What a writer did in an epoch: one number an act. */
type Acts = readonly (readonly number[])[];

function chainOf(acts: Acts, origin = ORIGIN, keys: Keys = keysOf(origin)): readonly (readonly Draft[])[] {
  let now = Date.parse('2026-11-30T10:00:00Z');
  const segments: Draft[][] = [];
  for (const [index, epochActs] of acts.entries()) {
    const epoch = draftsOf(index + 1, keys, () => {
      now += 100;
      return now;
    });
    let segment: Draft[] = [epoch.segment(SEALED.recipients.slice(0, 1)), epoch.checkpoint(), epoch.certificate(index + 1)];
    segments.push(segment);
    for (const act of epochActs) {
      if (act === 0) segment.push(epoch.checkpoint());
      else if (act === 1) segment.push(epoch.receipt());
      else if (act === 2) {
        segment = [epoch.segment(SEALED.recipients.slice(0, 1))];
        segments.push(segment);
      } else if (act % 2 === 0) segment.push(epoch.sealed(['intent', 'outcome', 'refused'], 'three'));
      else segment.push(epoch.sealed(['outcome'], act % 3 === 0 ? 'outcome' : 'other'));
    }
    if (epochActs.length % 2 === 0) segment.push(epoch.end('rotated'), epoch.checkpoint());
  }
  return segments;
}

const acts = fc.array(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 6 }), { minLength: 1, maxLength: 3 });

async function bothOf(files: Files, key: string | undefined, pieceBytes: number): Promise<Told> {
  const ours = toldByOurs(verdictOf(files, { pieceBytes, ...(key === undefined ? {} : { key }) }));
  if (python === undefined) return ours;
  const chain = join(folder, 'chain');
  rmSync(chain, { recursive: true, force: true });
  mkdirSync(chain);
  for (const [name, bytes] of files) writeFileSync(join(chain, name), bytes);
  assert.deepEqual(toldByPython(await python.ask([...(key === undefined ? [] : ['--key', key]), chain])), ours);
  return ours;
}

test('audit chain: of a chain that nobody touched no verifier raises an alarm, however its bytes come', async (t) => {
  if (missing) return t.skip(missing);
  await fc.assert(
    fc.asyncProperty(acts, fc.integer({ min: 1, max: 5_000 }), async (written, pieceBytes) => {
      const chain = link(ORIGIN, chainOf(written));
      const told = await bothOf(filesOf(chain.files), KEY, pieceBytes);
      assert.deepEqual([told.exit, told.broken_at, told.signature, told.clock_skew_at], [0, null, 'valid', []]);
      assert.equal(told.records, chain.segments.flat().at(-1)?.last);
    }),
    { numRuns: 60 },
  );
});

/** Every kind of damage, by numbers that fast-check can shrink; undefined where the chain has no such place. */
function damaged(
  chain: ReturnType<typeof link>,
  fork: ReturnType<typeof link>,
  other: ReturnType<typeof link>,
  kind: number,
  where: number,
  bit: number,
) {
  const files: Buffer[] = chain.files.map((file) => Buffer.from(file));
  const number = where % files.length;
  const file = files[number] ?? Buffer.alloc(0);
  const frames = chain.segments[number] ?? [];
  const index = bit % frames.length;
  const of = (changed: readonly { readonly bytes: Buffer }[]) => files.with(number, Buffer.concat(changed.map(({ bytes }) => bytes)));
  const swap = <Item>(items: readonly Item[], at: number): Item[] | undefined => {
    const [one, two] = [items[at], items[at + 1]];
    return one === undefined || two === undefined ? undefined : [...items.slice(0, at), two, one, ...items.slice(at + 2)];
  };
  const kinds: readonly (() => readonly Buffer[] | undefined)[] = [
    () => {
      const at = (where * 7_919 + bit) % file.length;
      file[at] = (file[at] ?? 0) ^ (1 << (bit % 8));
      return files;
    },
    () => of(frames.toSpliced(index, 1)),
    () => {
      const swapped = swap(frames, index);
      return swapped && of(swapped);
    },
    () => of(frames.toSpliced(index, 0, frames[index] ?? { ...frames[0]!, bytes: Buffer.alloc(0) })),
    () => files.toSpliced(number, 1),
    () => [...files, file],
    () => files.with(number, file.subarray(0, (where * 104_729 + bit) % file.length)),
    () => files.with(number, Buffer.concat([file, Buffer.alloc(1 + (bit % 100), bit)])),
    () => (fork.files[number] ? files.with(number, fork.files[number]) : undefined),
    () => {
      const theirs = fork.segments[number]?.[index];
      return theirs && of(frames.with(index, theirs));
    },
    () => (other.files[number] ? files.with(number, other.files[number]) : undefined),
    () => files.with(number, Buffer.from(file).fill(bit % 256, where % file.length, Math.min(file.length, (where % file.length) + 8))),
  ];
  return kinds[kind % kinds.length]?.();
}

/** The chain's own bytes up to a place where a frame ends: a cut, which only a head from elsewhere shows (AUD-01). */
function isBeginning(files: readonly Buffer[], chain: ReturnType<typeof link>): boolean {
  if (files.some((file) => file.length < 16)) return false;
  const there = Buffer.concat(files.toSorted((one, other) => (one.readBigUInt64LE(8) < other.readBigUInt64LE(8) ? -1 : 1)));
  const whole = Buffer.concat(chain.files);
  if (!whole.subarray(0, there.length).equals(there)) return false;
  const frames = chain.segments.flat();
  return frames.some((_, index) => lengthOf(frames.slice(0, index + 1)) === there.length);
}

function lengthOf(frames: readonly { readonly bytes: Buffer }[]): number {
  return frames.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

test('audit chain: random damage is named by both verifiers at one sequence, and never taken for a whole chain (AUD-12)', async (t) => {
  if (missing) return t.skip(missing);
  let broken = 0;
  await fc.assert(
    fc.asyncProperty(
      ...[acts, fc.nat(1_000_000), fc.nat(1_000_000), fc.nat(1_000_000), fc.integer({ min: 1, max: 4_096 })],
      async (written, kind, where, bit, pieceBytes) => {
        const chain = link(ORIGIN, chainOf(written));
        const fork = link(ORIGIN, chainOf([[5, ...(written[0] ?? [])], ...written.slice(1)]));
        const other = link(OTHER_ORIGIN, chainOf(written, OTHER_ORIGIN));
        const files = damaged(chain, fork, other, kind, where, bit);
        if (files === undefined || files.length === 0) return;
        const told = await bothOf(filesOf(files), bit % 2 === 0 ? KEY : undefined, pieceBytes);
        // The beginning of a chain is a chain, and so is that of a fork by the same keys: heads from elsewhere show those.
        const whole = [chain, fork, other].some((one) => isBeginning(files, one));
        if (whole) assert.equal(told.broken_at, null);
        else {
          assert.notEqual(told.broken_at, null);
          assert.equal(told.exit, 1);
          broken += 1;
        }
      },
    ),
    { numRuns: 500 },
  );
  assert.ok(broken > 300, `only ${broken} chains were damaged`);
});

test('audit chain: a chain cut at any byte is whole up to there or broken behind it, and a head shows what is missing (AUD-01)', async () => {
  const whole = GOOD.files.at(-1) ?? Buffer.alloc(0);
  const frames = GOOD.segments.at(-1) ?? [];
  const last = frames.at(-1);
  const witnessed = Buffer.from(last?.body ?? []);
  for (let bytes = 1; bytes < whole.length; bytes += 1) {
    const files = filesOf([...GOOD.files.slice(0, -1), whole.subarray(0, bytes)]);
    const verdict = verdictOf(files, { heads: [witnessed] });
    const there = frames.findLastIndex((_, index) => lengthOf(frames.slice(0, index + 1)) <= bytes);
    const kept = frames.slice(0, there + 1);
    const good = kept.at(-1)?.last ?? 18;
    const atEnd = lengthOf(kept) === bytes;
    assert.deepEqual([verdict.lastSequence, verdict.broken?.sequence], [good, atEnd ? undefined : good + 1]);
    assert.equal(verdict.good, good >= 27 && atEnd);
    assert.equal(verdict.tail.is, good >= 27 ? 'complete' : 'TRUNCATED');
  }
});

test('audit chain: a claimed length, a file of 16 MB and one of a terabyte take no memory of the second verifier (AUD-22)', async (t) => {
  if (missing) return t.skip(missing);
  const chain = join(folder, 'long');
  mkdirSync(chain);
  for (const [index, file] of GOOD.files.entries()) writeFileSync(join(chain, segmentName(index + 1)), file);
  truncateSync(join(chain, segmentName(2)), 2 ** 40);
  const script =
    'import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20)); ' +
    'sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name="__main__")';
  const failed = await run(interpreter, ['-c', script, VERIFIER, chain]).then(
    () => assert.fail('it passed'),
    (error: { readonly code: number; readonly stdout: string }) => error,
  );
  assert.equal(failed.code, 1);
  assert.match(failed.stdout, /^verified: 10 records\n.*\n.*\nchain: broken at sequence 11: /);
});

test('audit chain: labels and file names with ESC and CR come to no terminal (AUD-22, AUD-22b)', async (t) => {
  if (missing) return t.skip(missing);
  const chain = join(folder, 'esc\u001b]0;owned\u0007\r');
  mkdirSync(chain);
  writeFileSync(join(chain, 'a\u001b[2J\r.seg'), GOOD.files[0] ?? '');
  writeFileSync(join(chain, 'b\u001b[2J\r.seg'), 'x\u001b]0;owned\u0007\r\n'.repeat(50));
  const cli = join(import.meta.dirname, '../../cli/postern.mjs');
  const commands: readonly (readonly [string, readonly string[]])[] = [
    [interpreter, [VERIFIER, chain]],
    [interpreter, [VERIFIER, join(chain, 'none')]],
    [process.execPath, [cli, 'audit', 'verify', chain]],
    [process.execPath, [cli, 'audit', 'verify', join(chain, 'none')]],
  ];
  for (const [program, args] of commands) {
    const said = await run(program, args).catch((error: { readonly stdout: string; readonly stderr: string }) => error);
    assert.match(`${said.stdout}${said.stderr}`, /^[^\p{Cc}]+(?:\n[^\p{Cc}]*)*$/u);
  }
});

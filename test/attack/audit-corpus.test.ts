/**
 * Goal: the entries of the hostile corpus about chains come out as it says, in the words a person reads. Method: the published vector of each
 * through the command and through the second verifier.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { parseCheckpoint } from '#core/audit/checkpoint.ts';
import { witness } from '#operator/witness/heads.ts';
import { findPython } from '#test/clients/python/python.ts';
import { noteText } from '#test/vectors/audit/chain-draft.ts';
import type { PublishedVector } from '#test/vectors/audit/generate.ts';
import { VECTORS_FOLDER } from '#test/vectors/audit/generate.ts';
import { AUTHORITY, keysOf, ORIGIN } from '#test/vectors/audit/good-chain.ts';
import { GOOD } from '#test/vectors/audit/vector.ts';
import { VERIFIER } from '#test/verifier/python-verifier.ts';

const run = promisify(execFile);
const COMMAND = join(import.meta.dirname, '../../cli/postern.mjs');
const { key, vectors } = JSON.parse(readFileSync(join(VECTORS_FOLDER, 'expected.json'), 'utf8')) as {
  readonly key: string;
  readonly vectors: readonly PublishedVector[];
};

const CORPUS: readonly (readonly [id: string, vector: string, code: 0 | 1, lines: readonly RegExp[]])[] = [
  ['AUD-01', 'cut-with-head', 1, [/^last sequence: 27$/m, /^chain: valid$/m, /^tail: TRUNCATED: head witnessed 28, found 27$/m]],
  ['AUD-01b', 'frame-dropped-first', 1, [/^verified: 0 records$/m, /^chain: broken at sequence 1: /m]],
  ['AUD-02', 'gone', 1, [/^verified: 0 records$/m, /^tail: TRUNCATED: head witnessed 27, found 0$/m]],
  ['AUD-03', 'older-copy', 1, [/^chain: valid$/m, /^tail: TRUNCATED: head witnessed 27, found 12$/m]],
  [
    'AUD-03',
    'another-chain',
    1,
    [/^tail: ROLLBACK: head witnessed 27 of postern\.dev\/audit\/standalone\/local\/\S+0001, found another chain$/m],
  ],
  ['AUD-04', 'resealed-epoch', 1, [/^signature: INVALID: .* the key of epoch 2, from sequence 11 on$/m]],
  ['AUD-05', 'epoch-missing', 1, [/^chain: broken at sequence 11: /m]],
  ['AUD-06', 'version-0', 1, [/^chain: broken at sequence 13: a version of the format/m]],
  ['AUD-16b', 'two-heads-of-one-size', 1, [/^tail: FORK: two heads of one size: 27 \S{44} and 27 \S{44}$/m]],
  ['AUD-17', 'clock-back', 0, [/^chain: valid$/m, /^last sequence: 28$/m, /^CLOCK_SKEW at sequence 13: 3599000 ms back$/m]],
  ['AUD-22', 'length-2-32-1', 1, [/^last sequence: 12$/m, /^chain: broken at sequence 13: /m]],
  ['AUD-22b', 'note-with-escapes', 1, [/^chain: broken at sequence 16: /m]],
  ['AUD-27', 'good', 0, [/^chain: valid$/m, /^signature: valid to sequence 27/m, /^tail: not checked \(--head\)$/m]],
];

for (const [id, name, code, lines] of CORPUS) {
  test(`audit corpus: ${id}: ${name} is told by the command and by the second verifier in the same words`, async (t) => {
    const vector = vectors.find((one) => one.name === name);
    assert.ok(vector);
    const heads = vector.heads.flatMap((head) => ['--head', join(VECTORS_FOLDER, head)]);
    const args = [...heads, '--key', key, join(VECTORS_FOLDER, vector.chain)];
    const ours = await said(process.execPath, [COMMAND, 'audit', 'verify', ...args]);
    const found = await findPython();
    if ('missing' in found) return t.skip(found.missing);
    const theirs = await said(found.python, [VERIFIER, ...args]);
    for (const { code: exit, text } of [ours, theirs]) {
      assert.equal(exit, code, text);
      assert.match(text, /^[ -~\n]+$/);
      for (const line of lines) assert.match(text, line);
    }
    assert.deepEqual(verdictLines(ours.text), verdictLines(theirs.text));
  });
}

test('audit corpus: AUD-24: the witness takes no smaller head of a chain, and no other of one size', () => {
  const [known, older] = [checkpointAt(28), checkpointAt(16)];
  const forked = readFileSync(join(VECTORS_FOLDER, 'two-heads-of-one-size/head-2.note'), 'utf8');
  const whole = parseCheckpoint(noteText(Buffer.from(known)));
  assert.ok(whole);
  const shown = (checkpoint: string) =>
    witness(checkpoint, { known: whole, origin: ORIGIN, keyOf: (epoch) => keysOf(ORIGIN).epoch(epoch), authority: AUTHORITY, nowMs: 0 });
  assert.deepEqual(
    [known, older, forked].map(shown).map((verdict) => [verdict.kind, 'relation' in verdict ? verdict.relation : undefined]),
    [
      ['witnessed', 'same'],
      ['conflict', 'rollback'],
      ['conflict', 'fork'],
    ],
  );
});

/** The checkpoint of the good chain that stands at a sequence. */
function checkpointAt(sequence: number): string {
  return Buffer.from(GOOD.segments.flat().find((frame) => frame.sequence === sequence)?.body ?? []).toString('utf8');
}

/** All lines but our command's notes; why a chain is broken is said in the words of each. */
function verdictLines(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => !line.startsWith('note: '))
    .map((line) => line.replace(/^(chain: broken at sequence \d+): .*/, '$1'));
}

async function said(program: string, args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  try {
    const { stdout, stderr } = await run(program, args);
    return { code: 0, text: `${stdout}${stderr}` };
  } catch (error) {
    const { code, stdout, stderr } = error as { readonly code: number; readonly stdout: string; readonly stderr: string };
    return { code, text: `${stdout}${stderr}` };
  }
}

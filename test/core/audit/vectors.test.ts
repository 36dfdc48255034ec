/**
 * Goal: a stranger's verifier and ours say the same of every kind of damage, and what the maker of the damage says. Method: the published
 * vectors of test/vectors/audit, as files, through both. UPDATE_VECTORS=1 writes the files anew.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Decrypter } from 'age-encryption';
import { verifierText } from '#core/audit/signed-note.ts';
import { findPython } from '#test/clients/python/python.ts';
import type { PublishedVector } from '#test/vectors/audit/generate.ts';
import { VECTORS_FOLDER, vectorFiles, writeVectors } from '#test/vectors/audit/generate.ts';
import { keyNamed, SEALED, SEALED_TEXTS, sealedBody } from '#test/vectors/audit/good-chain.ts';
import { type PythonVerifier, startPythonVerifier } from '#test/verifier/python-verifier.ts';
import { toldByOurs, toldByPython, verdictOf } from '#test/verifier/verdicts.ts';

if (process.env.UPDATE_VECTORS) writeVectors(VECTORS_FOLDER);

const { key, vectors } = JSON.parse(readFileSync(join(VECTORS_FOLDER, 'expected.json'), 'utf8')) as {
  readonly key: string;
  readonly vectors: readonly PublishedVector[];
};

let python: PythonVerifier | undefined;
let missing = '';

before(async () => {
  const found = await findPython();
  if ('python' in found) python = startPythonVerifier(found.python);
  else missing = found.missing;
});

after(async () => python?.[Symbol.asyncDispose]());

test('vectors: the files are what their makers give', () => {
  const made = vectorFiles();
  const there = readdirSync(VECTORS_FOLDER, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && (entry.parentPath !== VECTORS_FOLDER || entry.name === 'expected.json'))
    .map((entry) => join(entry.parentPath, entry.name).slice(VECTORS_FOLDER.length + 1));
  assert.deepEqual(there.toSorted(), [...made.keys()].toSorted());
  for (const [path, bytes] of made) assert.ok(readFileSync(join(VECTORS_FOLDER, path)).equals(bytes), path);
});

for (const vector of vectors) {
  const name = `${vector.case ?? 'vector'} ${vector.name}`;
  test(`vectors: ${name}: our verifier says what the maker of the damage says`, () => {
    const folder = join(VECTORS_FOLDER, vector.chain);
    const files = new Map(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file))]));
    const heads = vector.heads.map((head) => readFileSync(join(VECTORS_FOLDER, head)));
    for (const pieceBytes of [65_536, 7])
      assert.deepEqual(toldByOurs(verdictOf(files, { heads, pieceBytes, ...(vector.with_key ? { key } : {}) })), vector.expect);
  });

  test(`vectors: ${name}: the second verifier says the same`, async (t) => {
    if (python === undefined) return t.skip(missing);
    const heads = vector.heads.flatMap((head) => ['--head', join(VECTORS_FOLDER, head)]);
    const answer = await python.ask([...(vector.with_key ? ['--key', key] : []), ...heads, join(VECTORS_FOLDER, vector.chain)]);
    assert.deepEqual(toldByPython(answer), vector.expect);
    for (const line of answer.chains.flatMap(({ lines }) => lines)) assert.match(line, /^[ -~]+$/);
  });
}

test('vectors: the sealed records are age files that their readers open, each of them', async () => {
  for (const { name, readers, lines } of SEALED_TEXTS) {
    for (const [index, identity] of SEALED.identities.entries()) {
      const decrypter = new Decrypter();
      decrypter.addIdentity(identity);
      const opened = decrypter.decrypt(sealedBody(name), 'text');
      if (index < readers) assert.equal(await opened, lines);
      else await assert.rejects(opened);
    }
  }
});

test('vectors: of 1,000 wrong keys none is taken for the right one, by either verifier (AUD-07)', async () => {
  const folder = join(VECTORS_FOLDER, 'good/chain');
  const files = new Map(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file))]));
  const sentences = new Set<string>();
  for (let index = 0; index < 1_000; index += 1) {
    const wrong = verifierText(keyNamed('postern.dev/authority/vectors', `wrong ${index}`));
    const ours = verdictOf(files, { key: wrong });
    const theirs = index % 10 === 0 ? await python?.ask(['--key', wrong, folder]) : undefined;
    assert.deepEqual([ours.good, ours.signature.is], [false, 'INVALID']);
    if (theirs) assert.deepEqual([theirs.code, theirs.chains[0]?.signature], [1, 'INVALID']);
    sentences.add(ours.signature.sentence);
  }
  assert.equal(sentences.size, 1);
});

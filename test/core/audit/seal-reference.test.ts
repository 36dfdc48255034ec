/** Goal: what is sealed here is age, not something like it. Method: the reference program opens bodies cut out of a segment, by its file. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { createFrameSealer } from '#core/audit/seal.ts';
import { programPath, unavailable } from '#test/servers/build.ts';
import { ChainRig } from './chain-rig.ts';

const skip = await unavailable('age');
const folder = mkdtempSync(join(tmpdir(), 'postern-age-'));
after(() => rmSync(folder, { recursive: true }));

/** As FORMAT.md has it: the body stands behind 64 bytes and 32 bytes a record, and before the hash of 32. */
function bodyOf(segment: Buffer, at: number): Buffer {
  const records = segment.readUInt16LE(at + 6);
  const length = segment.readUInt32LE(at + 20);
  const from = at + 64 + 32 * records;
  return segment.subarray(from, from + length);
}

test('seal: `age -d` of each recipient opens bodies cut out of a segment, short ones, of exactly a chunk, and of several', {
  skip,
  timeout: 600_000,
}, async () => {
  const age = await programPath('age');
  const identities = await Promise.all(
    ['one', 'two', 'three'].map(async (name) => {
      const secret = await generateIdentity();
      const file = join(folder, `${name}.key`);
      writeFileSync(file, `# made for a test\n${secret}\n`, { mode: 0o600 });
      return { file, recipient: await identityToRecipient(secret) };
    }),
  );
  const rig = new ChainRig();
  rig.recipients = identities.map(({ recipient }) => recipient);
  rig.beginEpoch();
  const sealer = createFrameSealer(rig.recipients);
  // age ciphers in chunks of 64 KiB: the end of a chunk, its neighbours, and two chunks and a bit.
  const sizes = [40, 65_535, 65_536, 65_537, 131_072, 150_000, 700_000];
  const texts = sizes.map((size) => `${JSON.stringify({ filler: 'x'.repeat(size - 14) })}\n`);
  assert.deepEqual(
    texts.map(({ length }) => length),
    sizes,
  );
  for (const text of texts) rig.add({ form: 'sealed', heads: [{ kind: 'intent' }], body: await sealer.seal(text) });
  const file = join(folder, '0000000001.seg');
  writeFileSync(file, rig.files[0] ?? '');
  const segment = readFileSync(file);
  let at = 0;
  let opened = 0;
  for (const frame of rig.segments[0] ?? []) {
    if (frame.form === 'sealed') {
      for (const { file: identity } of identities) {
        const text = execFileSync(age, ['-d', '-i', identity], { input: bodyOf(segment, at), maxBuffer: 1024 * 1024 }).toString();
        assert.equal(text, texts[opened]);
      }
      opened += 1;
    }
    at += frame.bytes.length;
  }
  assert.equal(opened, sizes.length);
});

test('seal: `age -d` with another identity opens nothing', { skip, timeout: 600_000 }, async () => {
  const own = await identityToRecipient(await generateIdentity());
  const foreign = join(folder, 'foreign.key');
  writeFileSync(foreign, `${await generateIdentity()}\n`, { mode: 0o600 });
  const body = await createFrameSealer([own]).seal('{"record":"intent"}\n');
  const { status, stdout } = spawnSync(await programPath('age'), ['-d', '-i', foreign], { input: body });
  assert.deepEqual([status === 0, stdout.length], [false, 0]);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bech32 } from '@scure/base';
import { Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import fc from 'fast-check';
import { createFrameSealer, RecipientUnusable } from '#core/audit/seal.ts';

const CHUNK = 64 * 1024;

describe('seal', () => {
  test('seal: age-encryption opens every file, for each of its recipients, around the borders of chunks too', async () => {
    const people = await Promise.all([person(), person(), person()]);
    const lengths = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK - 1, 2 * CHUNK, 2 * CHUNK + 1, 5 * CHUNK + 17];
    for (const count of [1, 2, 3]) {
      const readers = people.slice(0, count);
      const sealer = createFrameSealer(readers.map(({ recipient }) => recipient));
      sealer.prepare(3);
      for (const length of lengths) {
        const text = 'ab\n'.repeat(Math.ceil(length / 3)).slice(0, length);
        const file = await sealer.seal(text);
        for (const { identity } of readers) assert.equal(await open(file, identity), text, `${length} bytes, ${count} recipients`);
      }
    }
  });

  test('seal: any text, in UTF-8', async () => {
    const { identity, recipient } = await person();
    const sealer = createFrameSealer([recipient]);
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.nat(3 * CHUNK).map((length) => 'é'.repeat(length)),
        ),
        async (text) => {
          assert.equal(await open(await sealer.seal(text), identity), text);
        },
      ),
      { numRuns: 30 },
    );
  });

  test('seal: no share, file key or nonce is used twice, prepared or not', async () => {
    const { identity, recipient } = await person();
    const sealer = createFrameSealer([recipient]);
    sealer.prepare(4);
    const files = [];
    for (let count = 0; count < 12; count += 1) files.push(Buffer.from(await sealer.seal('the same\n')).toString('latin1'));
    for (const part of [share, mac, (file: string) => file.slice(-25)]) assert.equal(new Set(files.map(part)).size, files.length);
    for (const file of files) assert.equal(await open(Buffer.from(file, 'latin1'), identity), 'the same\n');
  });

  test('seal: nobody else opens it, and what was changed does not open', async () => {
    const [{ identity, recipient }, stranger] = await Promise.all([person(), person()]);
    const file = await createFrameSealer([recipient]).seal('secret\n');
    await assert.rejects(open(file, stranger.identity));
    for (let at = 0; at < file.length; at += 1) {
      const changed = Buffer.from(file);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await assert.rejects(open(changed, identity), `byte ${at}`);
    }
  });

  test('seal: prepares no more than its limit, whatever is asked', async () => {
    const { recipient } = await person();
    const sealer = createFrameSealer([recipient]);
    sealer.prepare(Number.POSITIVE_INFINITY);
    assert.ok((await sealer.seal('x\n')).length > 0);
  });

  test('seal: says what is no recipient, without repeating it', () => {
    const smallOrder = bech32.encodeFromBytes('age', new Uint8Array(32));
    for (const text of [
      '',
      'age1',
      'age1qqqq',
      'AGE-SECRET-KEY-1QQQ',
      'ssh-ed25519 AAAA',
      smallOrder,
      bech32.encodeFromBytes('agf', new Uint8Array(32).fill(9)),
    ])
      assert.throws(
        () => createFrameSealer([text]),
        (thrown) => thrown instanceof RecipientUnusable && (text === '' || !thrown.message.includes(text) || text === 'age1'),
      );
  });
});

async function person(): Promise<{ readonly identity: string; readonly recipient: string }> {
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

function open(file: Uint8Array, identity: string): Promise<string> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return decrypter.decrypt(file, 'text');
}

function share(file: string): string {
  return /-> X25519 (\S+)/.exec(file)?.[1] ?? '';
}

function mac(file: string): string {
  return /^--- (\S+)/m.exec(file)?.[1] ?? '';
}

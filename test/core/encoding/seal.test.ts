import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createKeyRing, createSealer } from '#core/encoding/seal.ts';

const keyA = new Uint8Array(32).fill(1);
const keyB = new Uint8Array(32).fill(2);
const sealer = createSealer('cursor', createKeyRing(keyA));

test('seal: what was sealed opens again in its context', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 500 }), fc.string(), (text, context) => {
      assert.equal(sealer.open(sealer.seal(text.toWellFormed(), context), context), text.toWellFormed());
    }),
    { numRuns: 1000 },
  );
});

test('seal: another context does not open it', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (text, context, other) => {
      fc.pre(context.toWellFormed() !== other.toWellFormed());
      assert.equal(sealer.open(sealer.seal(text, context), other), null);
    }),
    { numRuns: 1000 },
  );
});

test('seal: another purpose does not open it', () => {
  assert.equal(createSealer('evidence', createKeyRing(keyA)).open(sealer.seal('text', 'c'), 'c'), null);
});

test('seal: a token with any one character changed does not open', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const token = sealer.seal('a walk so far', 'context');
  for (let at = 0; at < token.length; at += 1) {
    for (const letter of alphabet) {
      if (letter === token[at]) continue;
      assert.equal(sealer.open(token.slice(0, at) + letter + token.slice(at + 1), 'context'), null);
    }
  }
});

test('seal: cut, lengthened and foreign tokens do not open', () => {
  const token = sealer.seal('a walk so far', 'context');
  for (let length = 0; length < token.length; length += 1) assert.equal(sealer.open(token.slice(0, length), 'context'), null);
  for (const more of ['A', '=', ' ', '\n', 'AAAA']) assert.equal(sealer.open(token + more, 'context'), null);
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
      assert.equal(sealer.open(text, 'context'), null);
    }),
    { numRuns: 1000 },
  );
});

test('seal: a token longer than any of ours is refused unread', () => {
  const token = sealer.seal('x'.repeat(250_000), 'c');
  assert.equal(sealer.open(token, 'c'), null);
});

test('seal: a token has no second spelling', () => {
  // 1 + 1 + 12 + 1 + 16 = 31 bytes: the last character carries unused bits.
  const token = sealer.seal('x', 'c');
  const last = token.at(-1) ?? '';
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const twin = token.slice(0, -1) + alphabet[alphabet.indexOf(last) + 1];
  assert.deepEqual(Buffer.from(twin, 'base64url'), Buffer.from(token, 'base64url'));
  assert.equal(sealer.open(twin, 'c'), null);
});

test('seal: the previous key still opens, and an older one does not', () => {
  const old = sealer.seal('text', 'c');
  const rotated = createSealer('cursor', createKeyRing(keyB, keyA));
  assert.equal(rotated.open(old, 'c'), 'text');
  assert.equal(createSealer('cursor', createKeyRing(keyA)).open(rotated.seal('new', 'c'), 'c'), null);
  assert.equal(createSealer('cursor', createKeyRing(keyB)).open(old, 'c'), null);
});

test('seal: two seals of one text differ', () => {
  assert.notEqual(sealer.seal('text', 'c'), sealer.seal('text', 'c'));
});

test('seal: the layout stays what it is', () => {
  const fixed = createSealer('cursor', createKeyRing(keyA), (size) => new Uint8Array(size).fill(9));
  assert.equal(fixed.seal('text', 'context'), 'AbYJCQkJCQkJCQkJCQmwal-6ybO1wrBFVJrQq_w0sd30yA');
});

test('seal: a key of another size is refused', () => {
  for (const size of [0, 16, 31, 33, 64]) assert.throws(() => createKeyRing(new Uint8Array(size)), RangeError);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { encodeFrame, type Frame } from '#core/audit/frame.ts';
import { createFrameOpener, FrameUnopened, IdentityUnusable, identitiesOf } from '#core/audit/open.ts';
import { createFrameSealer } from '#core/audit/seal.ts';
import { limits } from '#core/bounds/limits.ts';

const START = { sequence: 12, epoch: 1, timeMs: 0, previous: Buffer.alloc(32) };
const HEADS = [{ kind: 'intent' as const, operationId: `op_${'a'.repeat(26)}` }, { kind: 'counted' as const }];

describe('open', () => {
  test('open: gives each record with its head and sequence, to each recipient', async () => {
    const [one, other, stranger] = await Promise.all([person(), person(), person()]);
    const frame = await sealed('{"record":"intent"}\n{"record":"counted","n":2}\n', [one.recipient, other.recipient]);
    for (const { identity } of [one, other]) {
      const records = await createFrameOpener([stranger.identity, identity]).open(frame);
      assert.deepEqual(records, [
        { sequence: 12, head: HEADS[0], record: { record: 'intent' }, text: '{"record":"intent"}' },
        { sequence: 13, head: HEADS[1], record: { record: 'counted', n: 2 }, text: '{"record":"counted","n":2}' },
      ]);
    }
    await refused(createFrameOpener([stranger.identity]).open(frame), 'identity');
  });

  test('open: what does not fit the heads is an error that shows nothing of it (AUD-22)', async () => {
    const { identity, recipient } = await person();
    const opener = createFrameOpener([identity]);
    const cases: Readonly<Record<string, readonly [string, string]>> = {
      'fewer lines': ['{"secret":1}\n', 'count'],
      'more lines': ['{"secret":1}\n{}\n{}\n', 'count'],
      'line feeds alone': ['\n'.repeat(500_000), 'count'],
      'no line feed at the end': ['{}\n{"secret":1}', 'count'],
      'not JSON': ['{}\nsecret\n', 'records'],
      'an array': ['{}\n["secret"]\n', 'records'],
      null: ['{}\nnull\n', 'records'],
      'too long': [`{}\n{"secret":"${'a'.repeat(limits.auditRecordBytesMax)}"}\n`, 'large'],
      nothing: ['', 'count'],
    };
    for (const [name, [text, kind]] of Object.entries(cases)) {
      const thrown = await refused(opener.open(await sealed(text, [recipient])), kind);
      assert.ok(!thrown.message.includes('secret') && thrown.cause === undefined, name);
    }
  });

  test('open: a body that is no age file, or was changed, is damaged', async () => {
    const { identity, recipient } = await person();
    const opener = createFrameOpener([identity]);
    const { body } = await sealed('{}\n{}\n', [recipient]);
    const changed = Buffer.from(body);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    for (const hostile of [changed, Buffer.from('age-encryption.org/v1\n'), Buffer.from('none'), Buffer.from(body.subarray(0, 60))])
      await refused(opener.open(encodeFrame(START, { form: 'sealed', heads: HEADS, body: hostile })), 'damaged');
    await refused(opener.open(encodeFrame(START, { form: 'statement', heads: [{ kind: 'end' }], body })), 'statement');
  });

  test('open: a text that is no identity is refused without being repeated', async () => {
    const { identity, recipient } = await person();
    for (const text of [recipient, `${identity}x`, 'secret', ''])
      assert.throws(
        () => createFrameOpener([text]),
        (thrown) => thrown instanceof IdentityUnusable && (text === '' || !thrown.message.includes(text)),
      );
    assert.deepEqual(identitiesOf(`# created\n\n${identity}\r\n${identity}`), [identity, identity]);
  });
});

async function person(): Promise<{ readonly identity: string; readonly recipient: string }> {
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

async function sealed(text: string, recipients: readonly string[]): Promise<Frame> {
  return encodeFrame(START, { form: 'sealed', heads: HEADS, body: await createFrameSealer(recipients).seal(text) });
}

async function refused(opened: Promise<unknown>, kind: string): Promise<Error> {
  const thrown: unknown = await opened.then(
    () => assert.fail('opened'),
    (error: unknown) => error,
  );
  assert.ok(thrown instanceof FrameUnopened, String(thrown));
  assert.equal(thrown.kind, kind);
  return thrown;
}

/** The end of a chain against heads that were kept elsewhere. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Heads, parseHeads } from '#core/audit/heads.ts';
import { cosign, makeSigningKey, signNote, type VerifierKey } from '#core/audit/signed-note.ts';
import { ChainVerifier } from '#core/audit/verify.ts';
import { ChainRig, ORIGIN, verifierOf, verify, wholeChain } from './chain-rig.ts';

describe('tail', () => {
  test('tail: a chain that goes on to the head and beyond is complete up to it', () => {
    const rig = wholeChain();
    const [size, head] = [rig.last, rig.headNote()];
    for (const chain of [rig, rig.records()]) {
      const { tail, good } = verify(chain.files, { heads: [headsOf(head)] });
      assert.deepEqual([tail, good], [{ is: 'complete', sequence: size, sentence: `nothing is missing up to sequence ${size}` }, true]);
    }
  });

  test('tail: the last records taken away are missed, in whole frames and in whole segments (AUD-01, AUD-01b)', () => {
    const rig = wholeChain();
    const heads = [headsOf(rig.headNote())];
    const files = [...rig.files];
    const lastFrame = rig.segments.at(-1)?.at(-1)?.bytes.length ?? 0;
    const cut = [...files.slice(0, -1), (files.at(-1) as Buffer).subarray(0, -lastFrame)];
    for (const left of [cut, files.slice(0, -1), files.slice(0, 1)]) {
      const { tail, good, broken, lastSequence } = verify(left, { heads });
      assert.deepEqual([broken, good, tail.is], [undefined, false, 'TRUNCATED']);
      assert.equal(tail.sentence, `TRUNCATED: head witnessed ${rig.last}, found ${lastSequence}`);
    }
  });

  test('tail: a whole chain gone is truncated to nothing (AUD-02)', () => {
    const rig = wholeChain();
    const { tail, good } = new ChainVerifier({ heads: [headsOf(rig.headNote())] }).verdict();
    assert.deepEqual([tail.sentence, good], [`TRUNCATED: head witnessed ${rig.last}, found 0`, false]);
  });

  test('tail: a chain that is another one at the size of the head is a fork, and both are shown (AUD-16b, AUD-24)', () => {
    const authority = makeSigningKey('postern.dev/authority/test');
    const [one, other] = [wholeChain(new ChainRig(ORIGIN, authority)), wholeChain(new ChainRig(ORIGIN, authority))];
    const { tail, good } = verify(one.files, { heads: [headsOf(other.headNote())] });
    const text = (rig: ChainRig) => `${rig.last} ${Buffer.from(rig.previous).toString('base64')}`;
    assert.deepEqual([tail.sentence, good], [`FORK: head witnessed ${text(other)}, found ${text(one)}`, false]);
    const both = verify(one.files, { heads: [headsOf(one.headNote()), headsOf(other.headNote())] });
    assert.equal(both.tail.sentence, `FORK: two heads of one size: ${text(one)} and ${text(other)}`);
  });

  test('tail: a head in the middle of a frame is a fork', () => {
    const rig = new ChainRig().beginEpoch().records(3);
    const hash = Buffer.from(rig.previous).toString('base64');
    const note = signNote(`${ORIGIN}\n${rig.last - 1}\n${hash}\nepoch 1\ntime 2026-12-01T10:00:00Z\n`, rig.key);
    assert.match(verify(rig.files, { heads: [headsOf(note)] }).tail.sentence, /^FORK: .* no frame that ends at 5$/);
  });

  test('tail: an older copy, or another chain in its place, is a rollback (AUD-03)', () => {
    const [rig, other] = [wholeChain(), wholeChain(new ChainRig('postern.dev/audit/test/local/two'))];
    const { tail, good } = verify(rig.files, { heads: [headsOf(other.headNote())] });
    assert.deepEqual([tail.is, good], ['ROLLBACK', false]);
    const verifier = verifierOf(rig.files, { heads: [headsOf(other.headNote())] });
    assert.equal(verifier.verdict(new Set([rig.origin, other.origin])).tail.sentence, 'not checked (no head speaks of this chain)');
  });

  test('tail: of an object of heads/ only the line of the chain counts', () => {
    const [rig, other] = [wholeChain(), wholeChain(new ChainRig('postern.dev/audit/test/local/two'))];
    const line = (chain: ChainRig) => `${chain.origin} ${chain.last} ${Buffer.from(chain.previous).toString('base64')}\n`;
    const object = (lines: string) =>
      headsOf(signNote(`postern.dev/audit-heads/v1\n2026-12-01T10:00:00Z\n-\n${lines}`, rig.authority), [rig.authority]);
    assert.equal(verify(rig.files, { heads: [object(line(other) + line(rig))] }).tail.is, 'complete');
    const silent = verify(rig.files, { heads: [object(line(other))] });
    assert.deepEqual([silent.tail.is, silent.good], ['not checked', true]);
    assert.equal(verify(rig.files.slice(0, 1), { heads: [object(line(rig))] }).tail.is, 'TRUNCATED');
  });

  test('tail: behind a broken sequence nothing counts, so a head there is missed', () => {
    const rig = wholeChain();
    const [first] = rig.files as [Buffer];
    const { broken, tail } = verify([first, Buffer.from('x')], { heads: [headsOf(rig.headNote())] });
    assert.deepEqual([broken?.reason, tail.is], ['foreign', 'TRUNCATED']);
  });
});

describe('head', () => {
  test('head: a line in the name of a known authority must be right, and an unknown one is passed over', () => {
    const rig = wholeChain();
    const note = rig.headNote();
    const text = note.slice(0, note.lastIndexOf('\n\n') + 1);
    const forged = signNote(text, rig.key) + cosign('other\n', rig.authority, 5);
    assert.ok('heads' in parseHeads(Buffer.from(note), [rig.authority]));
    assert.ok('heads' in parseHeads(Buffer.from(forged), [makeSigningKey('postern.dev/authority/other')]));
    assert.deepEqual(parseHeads(Buffer.from(forged), [rig.authority]), { unusable: 'this head is not signed by the authority it names' });
  });

  test('head: what is none is refused in our own words (AUD-22)', () => {
    const key = makeSigningKey('postern.dev/authority/test');
    const hash = Buffer.alloc(32).toString('base64');
    const object = (rest: string) => signNote(`postern.dev/audit-heads/v1\n${rest}`, key);
    const hostile = [
      '',
      '\u001b[2J',
      signNote('hello\n', key),
      object('2026-12-01\n-\n'),
      object('2026-12-01T10:00:00Z\n'),
      object(`2026-12-01T10:00:00Z\n-\n${ORIGIN} 01 ${hash}\n`),
      object(`2026-12-01T10:00:00Z\n-\n${ORIGIN} 1 ${hash} more\n`),
      object(`2026-12-01T10:00:00Z\n-\nexample.org 1 ${hash}\n`),
      object(`2026-12-01T10:00:00Z\n-\n${ORIGIN} 1 ${hash}\n\n`),
      object('2026-12-01T10:00:00Z\nname short\n'),
    ];
    for (const note of hostile) assert.ok('unusable' in parseHeads(Buffer.from(note), [key]), JSON.stringify(note));
    const fine = object(`2026-12-01T10:00:00Z\nheads/x/2026-12-01/100000.note ${'0'.repeat(64)}\n${ORIGIN} 1 ${hash}\n`);
    assert.equal(headsOf(fine, [key]).heads.length, 1);
    assert.equal(headsOf(object('2026-12-01T10:00:00Z\n-\n'), [key]).heads.length, 0);
  });
});

function headsOf(note: string, keys: readonly VerifierKey[] = []): Heads {
  const heads = parseHeads(Buffer.from(note), keys);
  assert.ok('heads' in heads);
  return heads;
}

/**
 * What an operator says of the audit, and a chain that does it: on a real folder, with the operator's word given by hand. What counts is what
 * the reader of the chain finds.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { IDENTITY, makeAuthority, makeIdentity, openChain, readChain } from './audit/chain-stage.ts';
import { hasty, OFF, startFollowing, TERMS, TOO_OLD, until, wordsOf } from './following-stage.ts';

const home = mkdtempSync(join(tmpdir(), 'postern-terms-'));
after(() => rmSync(home, { recursive: true, force: true }));
const folders = Array.from({ length: 40 }, (_, index) => join(home, String(index)));
const newFolder = () => folders.pop() ?? '';

test('terms: what happened before the first of them is in the chain they open, in order', async () => {
  const folder = newFolder();
  const one = await startFollowing(folder);
  one.tell('before');
  assert.equal(one.audit.chain, undefined);
  assert.equal(existsSync(join(folder, '0000000001.wal')), false);
  one.says(TERMS);
  await until(() => one.audit.chain !== undefined, 'the chain is open');
  one.tell('after');
  await one.stop();
  assert.deepEqual(await wordsOf(folder), ['segment', 'before', 'after', 'ended', 'end']);
});

test('terms: a restart goes on while the operator is away, and the same terms begin no segment of their own', async () => {
  const folder = newFolder();
  const one = await startFollowing(folder, { terms: TERMS });
  one.tell('one');
  await one.kill();
  const two = await startFollowing(folder);
  two.tell('two');
  await two.audit.recorder.flush();
  two.says(TERMS);
  two.says({ ...TERMS, keepsIntents: true });
  two.tell('three');
  await two.stop();
  assert.deepEqual(await wordsOf(folder), ['segment', 'one', 'segment', 'two', 'three', 'ended', 'end']);
});

test('terms: other recipients while it runs begin a segment, and no record is lost between (AUD-21)', async () => {
  const folder = newFolder();
  const one = await startFollowing(folder, { terms: TERMS });
  one.tell('to one');
  await one.audit.recorder.flush();
  one.says({ ...TERMS, recipients: [IDENTITY.recipient, makeIdentity().recipient] });
  await until(async () => (await readChain(folder)).segments.length === 2, 'the segment has begun');
  one.tell('to two');
  await one.stop();
  assert.deepEqual(await wordsOf(folder), ['segment', 'to one', 'segment', 'to two', 'ended', 'end']);
  assert.deepEqual(
    (await readChain(folder)).segments.map(({ recipients }) => recipients),
    [1, 2],
  );
});

test('terms: turned off and on again, both are records, and what is served is said again (AUD-23)', async () => {
  const folder = newFolder();
  const one = await startFollowing(folder, { terms: TERMS });
  one.tell('on');
  one.says(OFF);
  await until(() => one.audit.recorder.isOff && one.audit.chain === undefined, 'it is off');
  one.tell('off');
  await one.audit.recorder.intent({} as never);
  assert.equal(one.audit.recorder.fault, undefined);
  one.says(TERMS);
  await until(() => one.audit.chain !== undefined, 'it is on');
  assert.equal(one.resumed, 1);
  one.tell('on again');
  await one.stop();
  assert.deepEqual(await wordsOf(folder), [
    'segment',
    'on',
    'recording false',
    'end',
    'segment',
    'recording true',
    'on again',
    'ended',
    'end',
  ]);
});

test('terms: turned off, a restart records nothing without an operator, until one says otherwise (AUD-23)', async () => {
  const folder = newFolder();
  const one = await startFollowing(folder, { terms: TERMS });
  one.says(OFF);
  await until(() => existsSync(join(folder, 'off')), 'it is off');
  await one.stop();
  const two = await startFollowing(folder);
  two.tell('unseen');
  assert.equal(two.audit.recorder.isOff, true);
  assert.deepEqual(two.audit.notReady(), []);
  two.says(TERMS);
  await until(() => two.audit.chain !== undefined, 'it is on');
  await two.stop();
  assert.deepEqual(await wordsOf(folder), ['segment', 'recording false', 'end', 'segment', 'recording true', 'ended', 'end']);
  assert.equal(existsSync(join(folder, 'off')), false);
});

test('terms: an operator that knows no audit turns none off that is there, and begins none', async () => {
  const folder = newFolder();
  const one = await startFollowing(folder, { terms: TERMS });
  await one.kill();
  const two = await startFollowing(folder, { terms: TOO_OLD });
  two.tell('goes on');
  assert.equal(two.audit.recorder.isOff, false);
  await two.stop();
  assert.deepEqual(await wordsOf(folder), ['segment', 'segment', 'goes on', 'ended', 'end']);

  const empty = newFolder();
  const three = await startFollowing(empty, { terms: TOO_OLD });
  assert.equal(three.audit.recorder.isOff, true);
  // A restart while the operator is away must not wait for terms that it never had.
  await until(() => existsSync(join(empty, 'off')), 'the mark is there');
  three.says(TERMS);
  await until(() => three.audit.chain !== undefined, 'it is on');
  await three.stop();
});

test('terms: the chain of another session is not written to, and calls are refused (AUD-03)', async () => {
  const folder = newFolder();
  const one = await startFollowing(folder, { terms: TERMS });
  await one.kill();
  const two = await startFollowing(folder, { clock: hasty });
  two.says({ ...TERMS, origin: 'postern.dev/audit/test/ns/another' });
  await until(() => two.audit.notReady().length > 0, 'it is not ready');
  await assert.rejects(two.audit.recorder.intent({ record: 'intent', effect: 'Read' } as never), { reason: 'AUDIT_UNAVAILABLE' });
  await two.stop();
  assert.equal((await wordsOf(folder)).includes('ended'), false);
});

test('terms: while another process still holds the folder it is tried again, and what happened meanwhile is not lost (AUD-16)', async () => {
  const folder = newFolder();
  const before = await openChain(folder);
  const one = await startFollowing(folder, { terms: TERMS, clock: hasty });
  one.tell('waits');
  assert.deepEqual(one.audit.notReady(), ['audit']);
  await before.end();
  await before.close();
  await until(() => one.audit.chain !== undefined, 'the folder is free');
  assert.deepEqual(one.audit.notReady(), []);
  await one.stop();
  assert.ok((await wordsOf(folder)).includes('waits'));
});

test('terms: a folder that does not answer holds up neither the start nor the end, and calls are refused (AUD-15)', async () => {
  const folder = newFolder();
  mkdirSync(folder);
  const pipe = join(folder, '0000000001.wal');
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
  const one = await startFollowing(folder, { terms: TERMS, clock: hasty });
  assert.deepEqual(one.audit.notReady(), ['audit']);
  await assert.rejects(one.audit.recorder.intent({ record: 'intent', effect: 'Read' } as never), { reason: 'AUDIT_UNAVAILABLE' });
  await one.stop();
  // Whoever waits to read it goes on.
  spawnSync('timeout', ['5', 'sh', '-c', ': > "$1"', 'sh', pipe]);
});

test('terms: a witness that does not answer keeps no chain from being turned off, or from ending', async () => {
  const folder = newFolder();
  const silent = { ...makeAuthority(), witness: () => new Promise<string>(() => {}) };
  const one = await startFollowing(folder, { terms: TERMS, clock: hasty, authority: silent });
  one.tell('on');
  one.says(OFF);
  await until(() => existsSync(join(folder, 'off')), 'it is off');
  one.says(TERMS);
  await until(() => one.audit.chain !== undefined, 'it is on');
  await one.stop();
  assert.deepEqual(await wordsOf(folder), ['segment', 'on', 'recording false', 'end', 'segment', 'recording true', 'ended', 'end']);
});

test('terms: an end that the disk does not take leaves no chain half open', async () => {
  const folder = newFolder();
  const one = await startFollowing(folder, { terms: TERMS, clock: hasty });
  await one.audit.recorder.flush();
  // It ends under its hands, as one whose disk fails does.
  await one.audit.chain?.close();
  one.says(OFF);
  await until(() => existsSync(join(folder, 'off')), 'it is off');
  one.says(TERMS);
  await until(() => one.audit.chain !== undefined, 'it is on');
  one.tell('works');
  await one.stop();
  assert.ok((await wordsOf(folder)).includes('works'));
});

test('terms: a store that comes and goes is shipped to while it is there', async () => {
  const folder = newFolder();
  const one = await startFollowing(folder, { terms: TERMS });
  one.tell('one');
  await one.audit.recorder.flush();
  one.says({ ...TERMS, shipped: true });
  await one.audit.chain?.closeSegment();
  await until(() => one.shipped.includes('segment 1'), 'the first segment is shipped');
  one.says(TERMS);
  one.tell('two');
  await one.audit.recorder.flush();
  await one.audit.chain?.closeSegment();
  one.says({ ...TERMS, shipped: true });
  await until(() => one.shipped.includes('segment 2'), 'the second segment is shipped');
  await one.stop();
  assert.ok(one.shipped.includes('segment 3'));
});

test('terms: a mark that cannot be written is tried again, and nothing is recorded meanwhile', async () => {
  const folder = newFolder();
  writeFileSync(folder, 'a file where a folder should be');
  const one = await startFollowing(folder, { terms: OFF, clock: hasty });
  assert.equal(one.audit.recorder.isOff, true);
  rmSync(folder);
  await until(() => existsSync(join(folder, 'off')), 'the mark is there');
  await one.stop();
});

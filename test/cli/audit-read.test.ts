/** Goal: what a reader gets from `postern audit read` and `tail`. Method: the program as a process, over chains that are really sealed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { intent, outcome, refused, session } from '#test/core/audit/view-records.ts';
import { makeReader, type Reader, sealRecords, startChain, writeChain } from './audit-rig.ts';
import { program, runPostern } from './run-postern.ts';

const folder = mkdtempSync(join(tmpdir(), 'postern-audit-read-'));
let auditor: Reader;
let stranger: Reader;
const chain = join(folder, 'chain');

before(async () => {
  auditor = await makeReader(folder, 'auditor.key');
  stranger = await makeReader(folder, 'stranger.key');
  const rig = startChain([auditor.recipient]);
  await sealRecords(rig, session('started', { version: '0.1.0', operator: false }), intent(), outcome({ rows: 2, duration_ms: 7 }));
  await sealRecords(rig, refused({ operation_id: undefined, action: 'bad\u001b[31m\u202eaction', code: 'UNKNOWN_ACTION' }));
  await sealRecords(rig, intent({ operation_id: `op_${'b2'.repeat(13)}`, action: 'list_stock' }));
  writeChain(chain, rig);
});
after(() => rmSync(folder, { recursive: true }));

const read = (...args: readonly string[]) => runPostern(['audit', 'read', '--identity', auditor.keyFile, ...args]);
const linesOf = (out: string): Record<string, unknown>[] =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('audit read: prints each record with its chain and sequence, escapes what a terminal would obey, and keeps the value (AUD-22)', async () => {
  const { code, out, err } = await read(chain);
  assert.deepEqual([code, err], [0, '']);
  assert.match(out, /^[\n -~]*$/);
  const records = linesOf(out);
  assert.deepEqual(
    records.map(({ sequence, record }) => [sequence, record]),
    [
      [4, 'session'],
      [5, 'intent'],
      [6, 'outcome'],
      [7, 'refused'],
      [8, 'intent'],
    ],
  );
  assert.equal(records[3]?.action, 'bad\u001b[31m\u202eaction');
});

test('audit read --view activity: one row an operation, and says which has no outcome', async () => {
  const { code, out } = await read('--view', 'activity', chain);
  assert.equal(code, 0);
  assert.match(out, /^BEGAN +ACTION +EFFECT +OUTCOME/);
  assert.match(out, /write_off_items +Write +ok .*2 rows +7ms +op_a1/);
  assert.match(out, /list_stock +Write +NO OUTCOME .*op_b2/);
  assert.match(out, /bad<U\+001B>\[31m<U\+202E>action +- +refused .*UNKNOWN_ACTION/);
});

test('audit read --view sessions: says who ran and what was asked, as JSON too', async () => {
  assert.match((await read('--view', 'sessions', chain)).out, /test\/local\/one .*no end, last .*write_off_items: 1 sent 1 ok/);
  const [row] = linesOf((await read('--view', 'sessions', '-o', 'json', chain)).out);
  assert.deepEqual([row?.starts, row?.last_sequence], [1, 8]);
});

test('audit read: shows only the wanted operation, action and time', async () => {
  assert.equal(linesOf((await read('--action', 'list_stock', chain)).out).length, 1);
  assert.equal(linesOf((await read('--operation', `op_${'a1'.repeat(13)}`, chain)).out).length, 2);
  assert.equal((await read('--since', '2030-01-01', chain)).out, '');
  const { code, err } = await read('--since', 'yesterday', chain);
  assert.equal(code, 2);
  assert.match(err, /Write a time in RFC 3339/);
});

test('audit read: shows what stands before a broken place, says where it is, and fails', async () => {
  const broken = join(folder, 'broken.seg');
  const bytes = readFileSync(join(chain, '0000000001.seg'));
  const last = bytes.length - 100;
  bytes[last] = (bytes[last] ?? 0) ^ 1;
  writeFileSync(broken, bytes);
  const { code, out, err } = await read(broken);
  assert.equal(code, 1);
  assert.deepEqual(
    linesOf(out).map(({ sequence }) => sequence),
    [4, 5, 6, 7],
  );
  assert.match(err, /is broken at sequence 8: .* Shown is what stands before it, to sequence 7;/);
});

test('audit read: names the recipients when no identity opens a chain, and counts what is for others', async () => {
  const { code, out, err } = await runPostern(['audit', 'read', '--identity', stranger.keyFile, chain]);
  assert.deepEqual([code, out], [1, '']);
  assert.ok(err.includes(`It is sealed to: ${auditor.recipient}`), err);
  const rig = startChain([auditor.recipient], 'postern.dev/audit/test/local/two');
  await sealRecords(rig, intent());
  rig.recipients = [stranger.recipient];
  rig.beginSegment();
  await sealRecords(rig, outcome());
  const mixed = join(folder, 'mixed');
  writeChain(mixed, rig);
  const part = await read(mixed);
  assert.equal(part.code, 0);
  assert.equal(linesOf(part.out).length, 1);
  assert.match(part.err, /warning: 1 frames of chain .* are for other recipients/);
  assert.equal(linesOf((await read('--identity', stranger.keyFile, mixed)).out).length, 2);
});

test('audit read: warns of a key file that others may read, and never prints what is in one', async () => {
  const open = await makeReader(folder, 'open.key', 0o644);
  const { err } = await runPostern(['audit', 'read', '--identity', open.keyFile, chain]);
  assert.match(err, /warning: others may read the key file/);
  const bad = join(folder, 'bad.key');
  writeFileSync(bad, 'AGE-SECRET-KEY-1CANARY\n', { mode: 0o600 });
  const refusal = await runPostern(['audit', 'read', '--identity', bad, chain]);
  assert.equal(refusal.code, 2);
  assert.ok(!`${refusal.out}${refusal.err}`.includes('CANARY'));
});

test('audit tail: prints what comes, from then on, and says once that the chain is broken', { timeout: 120_000 }, async () => {
  const rig = startChain([auditor.recipient], 'postern.dev/audit/test/local/three');
  await sealRecords(rig, intent());
  const followed = join(folder, 'followed');
  writeChain(followed, rig);
  const child = spawn(process.execPath, [program, 'audit', 'tail', '--identity', auditor.keyFile, followed], { env: {} });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    err += String(chunk);
  });
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  await until(() => err.includes('following from sequence 5'));
  await sealRecords(rig, outcome({ rows: 41 }));
  writeChain(followed, rig);
  await until(() => out.includes('"rows":41'));
  rig.beginSegment();
  await sealRecords(rig, outcome({ rows: 42 }));
  writeChain(followed, rig);
  await until(() => out.includes('"rows":42'));
  appendFileSync(join(followed, '0000000002.seg'), 'no frame begins like this');
  assert.equal(await exited, 1);
  assert.equal(linesOf(out).length, 2);
  assert.match(err, /error: the chain is broken at sequence 8: no frame begins here/);
});

async function until(happens: () => boolean): Promise<void> {
  while (!happens()) await new Promise((resolve) => setTimeout(resolve, 20));
}

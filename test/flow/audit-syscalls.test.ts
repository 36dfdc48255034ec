/**
 * Goal: there is no system call of the audit's log at which an error, a full disk, a disk that hangs or a death loses an acknowledged record,
 * doubles one, or leaves a chain that alarms a stranger. Method: a real process that appends, rotates, ships and gives room back, with one
 * call of the kernel spoiled by strace, at each place in turn; then the same again without a fault, on what is there.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { verifyLog } from '#cli/audit-log-chain.ts';
import { ChainVerifier } from '#core/audit/verify.ts';
import { nodeDisk } from '#sidecar/wal/disk.ts';
import { runPostern } from '#test/cli/run-postern.ts';
import { findChain } from '#test/sidecar/audit/chain-reader.ts';

const home = mkdtempSync(join(tmpdir(), 'postern-audit-syscalls-'));
after(() => rmSync(home, { recursive: true, force: true }));

const straced = spawnSync('strace', ['-V']).error === undefined;
const NO_STRACE = straced ? false : 'strace is not here';
const CALLS = ['pwrite64', 'fsync', 'rename', 'openat', 'unlink', 'ftruncate'] as const;
type Call = (typeof CALLS)[number];
/** Of the places of one call every so-manieth; 1: all of them. */
const EVERY = Number(process.env.POSTERN_AUDIT_SYSCALLS_EVERY ?? 6);
const PROCESS = join(import.meta.dirname, 'audit-syscalls-process.ts');

interface Ran {
  /** Whether strace says that the fault met a call. */
  readonly struck: boolean;
  readonly code: number | null;
  readonly lines: readonly (readonly string[])[];
}

interface Place {
  readonly folder: string;
  readonly store: string;
}

let places = 0;

function freshPlace(from?: Place): Place {
  places += 1;
  const [folder, store] = [join(home, `${places}`, 'audit'), join(home, `${places}`, 'store')];
  for (const path of [folder, store]) mkdirSync(path, { recursive: true });
  if (from !== undefined)
    for (const [to, of] of [
      [folder, from.folder],
      [store, from.store],
    ] as const)
      cpSync(of, to, { recursive: true });
  return { folder, store };
}

/** Under strace with these words, or without it. */
async function run({ folder, store }: Place, strace: readonly string[] = []): Promise<Ran> {
  const program = [process.execPath, PROCESS, folder, store];
  const names = Array.from({ length: 60 }, (_, index) => String(index + 1).padStart(10, '0'));
  const paths = [folder, ...names.flatMap((name) => [`${folder}/${name}.wal`, `${folder}/${name}.new`])];
  const trace = join(folder, '..', 'trace');
  rmSync(trace, { force: true });
  const traced = ['-f', '-o', trace, ...strace, ...[...paths, `${folder}/began`, `${folder}/began.part`].flatMap((path) => ['-P', path])];
  const [command = '', ...words] = strace.length === 0 ? program : ['strace', ...traced, ...program];
  // Without --seccomp-bpf, with which no signal is delivered. Calls are counted by thread: one of the pool makes them all.
  const child: ChildProcess = spawn(command, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, UV_THREADPOOL_SIZE: '1', NODE_NO_WARNINGS: '1' },
  });
  assert.ok(child.stdout && child.stderr);
  const said = text(child.stderr);
  const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  const end = out.lastIndexOf('\n') + 1;
  const lines = out.slice(0, end).split('\n').slice(0, -1);
  assert.ok(code === 0 || code === 3 || code === null || code === 137, `${code}: ${await said}`);
  const struck = strace.length > 0 && /\(INJECTED\)|\(DELAYED\)|killed by SIGKILL/.test(readFileSync(trace, 'latin1'));
  return { code, struck, lines: lines.map((line) => line.split(' ')) };
}

/** How often the process makes each call on the log. */
async function callsOf(place: Place): Promise<ReadonlyMap<Call, number>> {
  assert.equal((await run(place, ['-e', `trace=${CALLS.join()}`])).code, 0);
  const lines = readFileSync(join(place.folder, '..', 'trace'), 'latin1').split('\n');
  return new Map(CALLS.map((call) => [call, lines.filter((line) => new RegExp(`^\\d+ +${call}\\(`).test(line)).length]));
}

function spoil(call: Call, fault: string, nth: number): readonly string[] {
  return ['-e', `trace=${call}`, '-e', `inject=${call}:${fault}:when=${nth}`];
}

/** Acknowledged is there once, at its sequence, in order; anything else is the last that a process which died had asked for. */
async function assertWhole(place: Place, runs: readonly Ran[], what: string): Promise<void> {
  const lines = runs.flatMap((each) => each.lines);
  const said = (word: string) => lines.filter(([first]) => first === word);
  assert.deepEqual(said('differs'), [], what);
  const shipped = new Map(
    readdirSync(place.store)
      .filter((name) => name.endsWith('.seg'))
      .map((name) => [Number.parseInt(name, 10), readFileSync(join(place.store, name))]),
  );
  const heads = said('head').map(([, note = '']) => Buffer.from(note, 'base64').toString());
  const { records, verdict } = await findChain(nodeDisk, place.folder, shipped, { heads });
  assert.ok(verdict.good, `${what}: ${JSON.stringify(verdict)}`);
  const taken = said('taken').map(([, operationId = '', sequence]) => ({ operationId, sequence: Number(sequence) }));
  const ids = new Set(taken.map(({ operationId }) => operationId));
  assert.deepEqual(
    records.filter(({ operationId }) => ids.has(operationId)).map(({ operationId, sequence }) => ({ operationId, sequence })),
    taken,
    what,
  );
  for (const [at, { operationId }] of records.entries()) {
    if (ids.has(operationId)) continue;
    const { lines: asked = [], code } = runs.find((each) => each.lines.some(([word, id]) => word === 'asked' && id === operationId)) ?? {};
    assert.notEqual(code, 0, `${what}: ${operationId} was refused and is there`);
    const later = new Set(records.slice(at + 1).map((record) => record.operationId));
    assert.ok(
      !asked.some(([word, id = '']) => word === 'taken' && later.has(id)),
      `${what}: ${operationId} stands before what was taken later`,
    );
  }
  const log = new ChainVerifier({ anywhere: true });
  assert.equal(await verifyLog(place.folder, log), 0, what);
  assert.ok(log.verdict().good, `${what}: the log alone: ${JSON.stringify(log.verdict().broken)}`);
}

/** A spoiled run and a good one behind it. */
async function assertSurvives(from: Place | undefined, call: Call, fault: string, nth: number, before: readonly Ran[] = []): Promise<Ran> {
  const place = freshPlace(from);
  const what = `${call} ${nth} ${fault}`;
  const files = from === undefined ? undefined : bytesOf(place);
  const spoiled = await run(place, spoil(call, fault, nth));
  if (spoiled.code === 3) {
    assert.match(spoiled.lines.at(-1)?.join(' ') ?? '', /^unopened AUDIT_UNAVAILABLE .*(?:unreadable|locked)/, what);
    if (files !== undefined) assert.deepEqual(bytesOf(place), files, `${what}: a start that was refused has changed something`);
  }
  if (fault.startsWith('signal') && spoiled.struck) assert.notEqual(spoiled.code, 0, `${what}: it died`);
  if (!fault.startsWith('signal')) assert.notEqual(spoiled.code, null, `${what}: the process goes on or says why it does not open`);
  const good = await run(place);
  assert.equal(good.code, 0, what);
  await assertWhole(place, [...before, spoiled, good], what);
  rmSync(join(place.folder, '..'), { recursive: true });
  return spoiled;
}

/** Of the log, without what is no file of it. */
function bytesOf({ folder }: Place): Readonly<Record<string, string>> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.wal'));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name)).toString('base64')]));
}

/** Two at once: the machine that runs this has two cores at least. */
async function inTwos(works: readonly (() => Promise<unknown>)[]): Promise<void> {
  const left = [...works];
  await Promise.all(
    [0, 1].map(async () => {
      for (let work = left.shift(); work !== undefined; work = left.shift()) await work();
    }),
  );
}

function placesOf(calls: ReadonlyMap<Call, number>, every: number): readonly (readonly [Call, number])[] {
  return CALLS.flatMap((call) =>
    Array.from({ length: calls.get(call) ?? 0 }, (_, index) => [call, index + 1] as const).filter(([, nth]) => (nth - 1) % every === 0),
  );
}

for (const [fault, every, why] of [
  ['error=EIO', EVERY, 'an error of the disk (AUD-10, AUD-11)'],
  ['error=ENOSPC', EVERY, 'a full disk (AUD-08)'],
  ['signal=KILL', EVERY, 'a death (AUD-13)'],
  ['delay_enter=4000000', EVERY * 4, 'a disk that does not answer for a while (AUD-15)'],
] as const)
  test(`audit log: at each of its system calls ${why} leaves what was acknowledged, once, in a chain that is valid`, {
    skip: NO_STRACE,
  }, async () => {
    const calls = await callsOf(freshPlace());
    assert.ok(
      CALLS.every((call) => (calls.get(call) ?? 0) > 0),
      JSON.stringify([...calls]),
    );
    const struck: string[] = [];
    const chosen = placesOf(calls, every);
    await inTwos(
      chosen.map(([call, nth]) => async () => {
        if ((await assertSurvives(undefined, call, fault, nth)).struck) struck.push(`${call} ${nth}`);
      }),
    );
    // Timing moves a call or two at the end; the first of each is always made.
    for (const call of CALLS) assert.ok(struck.includes(`${call} 1`), `nothing was spoiled at the first ${call}`);
    assert.ok(struck.length >= 0.8 * chosen.length, `${struck.length} of ${chosen.length} places were met`);
  });

test('audit log: at each system call of a recovery an error, a full disk or a death leaves all that was there (AUD-11, AUD-13)', {
  skip: NO_STRACE,
}, async () => {
  const from = freshPlace();
  const killed = await run(from, spoil('pwrite64', 'signal=KILL', 12));
  assert.notEqual(killed.code, 0);
  const calls = new Map<Call, number>([
    ['openat', 8],
    ['fsync', 3],
    ['pwrite64', 4],
    ['rename', 1],
    ['unlink', 1],
    ['ftruncate', 1],
  ]);
  const faults = ['error=EIO', 'error=EACCES', 'signal=KILL'];
  let refused = 0;
  const struck = new Set<string>();
  await inTwos(
    faults.flatMap((fault) =>
      placesOf(calls, 1).map(([call, nth]) => async () => {
        const { code, struck: met } = await assertSurvives(from, call, fault, nth, [killed]);
        refused += code === 3 ? 1 : 0;
        if (met) struck.add(`${fault} ${call}`);
      }),
    ),
  );
  assert.ok(refused >= 6, `${refused} starts were refused`);
  for (const fault of faults)
    for (const call of ['openat', 'fsync', 'pwrite64']) assert.ok(struck.has(`${fault} ${call}`), `${fault} met no ${call} of a recovery`);
  const verified = await runPostern(['audit', 'verify', from.folder]);
  assert.equal(verified.code, 0);
  assert.match(verified.out, /chain: valid/);
});

/**
 * Goal: whatever the kernel answers to whichever call of the log, an operation is done once, not done, or unknown: never twice, never lost.
 * Method: strace injects an error, a death or a delay into the nth call of each kind that touches the log's folder, until
 * there is no nth call; then a start without it. Short writes come from a volume that is really full: an injected one says that bytes are
 * there which are not.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { DurableJournal } from '#sidecar/journal/durable-journal.ts';
import { freshFolder } from '#test/sidecar/wal/open-log.ts';

const program = join(import.meta.dirname, 'effects-program.ts');
const strace = spawnSync('strace', ['-V']).error === undefined;
const skip = strace ? false : 'strace is not here';

/** Calls tried of each kind: the log has begun, gone on and been rewritten by then. */
const NTH_MAX = 9;

const FAULTS: readonly (readonly [string, readonly string[]])[] = [
  ['pwrite64', ['error=EIO', 'error=ENOSPC', 'signal=KILL']],
  ['fsync', ['error=EIO', 'signal=KILL']],
  ['rename', ['error=EIO', 'signal=KILL']],
  ['openat', ['error=EACCES', 'signal=KILL']],
  ['unlink', ['error=EIO', 'signal=KILL']],
  ['ftruncate', ['error=EIO', 'signal=KILL']],
];

for (const [call, faults] of FAULTS) {
  for (const fault of faults) {
    test(`effects: ${fault} in each ${call} of the log leaves every operation done once, not done or unknown (AUD-08..14)`, {
      skip,
    }, async (t) => {
      let injected = 0;
      for (let nth = 1; nth <= NTH_MAX; nth += 1) {
        const folder = freshFolder(t);
        if (!run(folder, `${call}:${fault}:when=${nth}`)) break;
        injected += 1;
        await assertAllAccounted(folder, `${call} ${nth}: ${fault}`);
      }
      assert.ok(injected > 0, 'the fault never happened');
    });
  }
}

for (const call of ['pwrite64', 'fsync'] as const) {
  test(`effects: a ${call} of the log that hangs refuses who waits and leaves every operation accounted for (AUD-15)`, {
    skip,
  }, async (t) => {
    for (const nth of [2, 3]) {
      const folder = freshFolder(t);
      assert.ok(run(folder, `${call}:delay_enter=1500000:when=${nth}`));
      assert.match(facts(folder), /refused op_\d AUDIT_UNAVAILABLE/);
      await assertAllAccounted(folder, `${call} ${nth} hangs`);
    }
  });
}

test('effects: a volume that is really full refuses, keeps what it acknowledged, and works again with room (AUD-08, AUD-09)', async (t) => {
  const folder = freshFolder(t);
  const log = join(folder, 'log');
  mkdirSync(log);
  // The room is there, then it is not, then it is again; the log is copied out of the volume before it goes with its namespace.
  const script = `
    mount -t tmpfs -o size=24k tmpfs "$1" && node=$2 program=$3 out=$4
    "$node" "$program" "$1" "$out.1" 1 || exit 1
    dd if=/dev/zero of="$1/filler" bs=1k count=64 2>/dev/null
    "$node" "$program" "$1" "$out.2" 0; "$node" "$program" "$1" "$out.3" 3
    rm "$1/filler"
    "$node" "$program" "$1" "$out.4" 3 || exit 1
    mkdir "$out.kept" && cp "$1"/*.wal "$out.kept/"`;
  const args = ['-c', script, 'sh', log, process.execPath, program, join(folder, 'out')];
  const done = spawnSync('unshare', [...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']), '--mount', 'sh', ...args], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  });
  assert.equal(done.status, 0, done.stderr);
  const said = (run: number) => readFileSync(join(folder, `out.${run}`), 'utf8');
  assert.match(said(3), /refused op_\d AUDIT_UNAVAILABLE/);
  assert.doesNotMatch(said(3), /effect/);
  assert.match(said(4), /ack op_2 end/);
  const journal = await DurableJournal.open({ folder: join(folder, 'out.kept'), clock: systemClock });
  assert.deepEqual(
    journal
      .list()
      .map(({ record, phase }) => `${record.operationId} ${phase}`)
      .sort(),
    ['op_0 done', 'op_1 done', 'op_2 done'],
  );
  await journal.close();
});

/** False when there was no such call. */
function run(folder: string, inject: string): boolean {
  const log = join(folder, 'log');
  mkdirSync(log);
  const trace = join(folder, 'trace');
  const paths = [
    log,
    ...Array.from({ length: 30 }, (_, index) => String(index + 1).padStart(10, '0')).flatMap((name) => [
      `${log}/${name}.wal`,
      `${log}/${name}.new`,
    ]),
  ];
  const call = inject.split(':')[0] as string;
  spawnSync(
    'strace',
    [
      '-f',
      '-qq',
      '-o',
      trace,
      '-e',
      `trace=${call}`,
      '-e',
      `inject=${inject}`,
      ...paths.flatMap((path) => ['-P', path]),
      process.execPath,
      program,
      log,
      join(folder, 'out'),
    ],
    {
      cwd: import.meta.dirname,
      // One thread, so that the nth call is the nth.
      env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
    },
  );
  return /INJECTED|DELAYED|killed by SIGKILL/.test(readFileSync(trace, 'utf8'));
}

function facts(folder: string): string {
  const out = join(folder, 'out');
  return existsSync(out) ? readFileSync(out, 'utf8') : '';
}

async function assertAllAccounted(folder: string, what: string): Promise<void> {
  const lines = facts(folder).split('\n');
  const journal = await DurableJournal.open({ folder: join(folder, 'log'), clock: systemClock });
  for (let index = 0; index < 6; index += 1) {
    const id = `op_${index}`;
    const phase = journal.get(id)?.phase;
    const effects = lines.filter((line) => line === `effect ${id}`).length;
    assert.ok(effects <= 1, `${what}: ${id} was done ${effects} times`);
    if (effects === 1) assert.ok(phase === 'done' || phase === 'unknown', `${what}: ${id} was done and is ${phase}`);
    if (lines.includes(`ack ${id} end`)) assert.equal(phase, 'done', `${what}: ${id}`);
    if (lines.includes(`ack ${id} plan`)) assert.notEqual(phase, undefined, `${what}: ${id} is lost`);
    assert.notEqual(phase, 'running');
  }
  await journal.close();
}

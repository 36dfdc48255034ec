/** `postern sidecar --control` as the one who runs it sees it: flags that do not fit, and a start with its operator away. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { PosternError } from '#core/error/postern-error.ts';
import { connect } from '#core/runtime/grpc-client.ts';
import { ActionService } from '#proto/postern/v1/action_pb.ts';
import { textAt } from '#test/flow/stage.ts';
import { program, runPostern } from './run-postern.ts';

const directory = mkdtempSync(join(tmpdir(), 'postern-control-'));
after(() => rmSync(directory, { recursive: true, force: true }));
writeFileSync(join(directory, 'token'), 'a.b.c');

const PIN = `sha256:${'9f'.repeat(32)}`;
const CONTROL = ['--control', '127.0.0.1:9', '--control-pin', PIN, '--control-token', join(directory, 'token')];
const REST = ['--credentials', directory, '--state', join(directory, 'state')];

const WRONG: readonly (readonly [what: string, flags: readonly string[], said: RegExp])[] = [
  ['neither files nor an operator', REST, /neither --contracts nor --control.*\n.*Name files, or an operator/],
  ['both', [...CONTROL, ...REST, '--contracts', directory], /--contracts and --control exclude each other/],
  ['an operator without a pin', ['--control', 'op:1', '--control-token', 'f', ...REST], /--control needs --control-pin/],
  ['an operator without a token', ['--control', 'op:1', '--control-pin', PIN, ...REST], /--control needs --control-token/],
  ['an operator without a state', [...CONTROL, '--credentials', directory], /--control needs --state/],
  ['a pin without an operator', ['--contracts', directory, '--control-pin', PIN, ...REST], /--control-pin and --control-token say how/],
  ['loopback beside an operator', [...CONTROL, ...REST, '--allow-loopback'], /--allow-loopback .* refused with --control/],
  ['a pin that is none', ['--control-pin', 'sha256:abc', ...REST], /sha256: and 64 hex digits/],
  ['an address without a port', ['--control', 'operator', ...REST], /a name or an address and a port/],
];

for (const [what, flags, said] of WRONG) {
  test(`sidecar: refuses ${what}, with the cure`, async () => {
    const { code, err } = await runPostern(['sidecar', ...flags]);
    assert.notEqual(code, 0);
    assert.match(err, said);
    assert.doesNotMatch(err, /\n {4}at /);
  });
}

test('sidecar: with its operator away and no folder of credentials it starts, answers CONTRACT_NOT_READY, and stops when told', async () => {
  const ports = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'];
  const folders = ['--credentials', join(directory, 'not-there'), '--state', join(directory, 'state')];
  const child = spawn(process.execPath, [program, 'sidecar', ...CONTROL, ...folders, ...ports], {
    env: {},
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exit = once(child, 'close');
  try {
    let address = '';
    let adminPort = 0;
    for await (const line of createInterface({ input: child.stderr })) {
      const entry: Record<string, string> = JSON.parse(line);
      if (entry.message !== 'serving') continue;
      address = entry.address ?? '';
      adminPort = Number(entry.admin_address?.split(':').at(-1));
      break;
    }
    child.stderr.resume();
    const connection = connect(address);
    const error = await connection
      .client(ActionService)
      .listActions({})
      .then(() => undefined, PosternError.from);
    connection.close();
    assert.equal(error?.reason, 'CONTRACT_NOT_READY');
    assert.equal(await textAt(adminPort, '/livez'), 'ok\n');
    child.kill('SIGTERM');
    assert.deepEqual(await exit, [0, null]);
  } finally {
    child.kill('SIGKILL');
  }
});

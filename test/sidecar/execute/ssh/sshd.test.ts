/** Against a real OpenSSH server: what a person would try by hand, through the code that serves it. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '#core/bounds/limits.ts';
import type { Folded } from '#core/completeness/walk.ts';
import { type Sshd, startSshd } from '#test/servers/sshd.ts';
import { noReplyOf, openRig, type RigHost, replyOf } from './ssh-rig.ts';

const ARGS = 'arguments: {type: object, additionalProperties: false, required: [], properties: {}}';

/** A program of the host. */
function script({ folder }: Sshd, name: string, body: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** What a read without an answer is called. */
function folded({ folded: { ...end } }: { folded: Folded }): string {
  return end.kind === 'error' ? end.reason : `an answer that is ${end.envelope.status}`;
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries += 1) {
    assert.ok(tries < 600, 'it never came to that');
    await sleep(100);
  }
}

/** Ends the processes of one login: the listener forks one for each connection. */
function killSessions(server: Sshd): void {
  for (const pid of readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name))) {
    try {
      const parent = / ([0-9]+) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) [A-Z]/, ''))?.[1];
      if (Number(parent) === server.pid) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}

function at(server: Awaited<ReturnType<typeof startSshd>>, more: Partial<RigHost> = {}): RigHost {
  return { origin: server.origin, pins: server.fingerprints, privateKey: server.privateKey, user: server.user, ...more };
}

test('sshd: a command runs, and its lines, its error stream and its exit status come back', async () => {
  await using server = await startSshd();
  await using rig = openRig({ host: at(server), ssh: 'argv: [cat, /etc/hostname, /nowhere/at-all]\nshell: Posix' });
  const reply = replyOf(await rig.ask());
  assert.deepEqual(reply.exit, { code: 1 });
  assert.match(reply.stderr ?? '', /nowhere\/at-all/);
  assert.equal(Array.isArray(reply.body) && reply.body.length, 1);
});

test('SSH-13: ten MiB of errors and no output end with their exit status, and the beginning of the errors is kept', async () => {
  await using server = await startSshd();
  const program = script(server, 'complain', "head -c 10485760 /dev/zero | tr '\\0' e >&2; exit 3");
  await using rig = openRig({ host: at(server), ssh: `argv: [${program}]\nshell: Posix` });
  const reply = replyOf(await rig.ask());
  assert.deepEqual([reply.exit, reply.stderr?.length, reply.fault], [{ code: 3 }, limits.sshStderrBytesMax, undefined]);
});

test('SSH-12: output without an end is read up to the cap, its whole lines come back, and the answer says that it is not all', async () => {
  await using server = await startSshd();
  await using rig = openRig({
    host: at(server),
    ssh: 'argv: ["yes", a line of output]\nshell: Posix',
    spec: `${ARGS}\nresult: {decoder: Lines, items: [/], as: lines, fields: [{name: line}]}`,
    limits: 'bytes: 1Mi, items: 100000, time: 60s',
  });
  let most = 0;
  const before = process.memoryUsage().arrayBuffers;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }, 5);
  const { folded } = await rig.read();
  clearInterval(watch);
  assert.ok(folded.kind === 'envelope');
  const { completeness, status, data } = folded.envelope;
  assert.equal(status, 'partial');
  assert.deepEqual([completeness.complete, completeness.truncated], [false, true]);
  assert.deepEqual(
    completeness.incomplete_reasons.map(({ code, origin }) => [code, origin]),
    [['RESULT_LIMIT_REACHED', 'sidecar']],
  );
  const lines = data.lines as readonly { line: string }[];
  assert.ok(lines.length > 50_000 && lines.every(({ line }) => line === 'a line of output'), String(lines.length));
  assert.ok(most < 17 * 1024 * 1024, `${most} bytes were held`);
});

test('SSH-12: the output of an effect is read to its end, because ending it half-way undoes nothing', async () => {
  await using server = await startSshd();
  const mark = join(server.folder, 'done');
  const program = script(server, 'work', `head -c 5000000 /dev/zero | tr '\\0' o; touch ${mark}`);
  await using rig = openRig({ host: at(server), ssh: `argv: [${program}]\nshell: Posix`, effect: 'Write' });
  const reply = replyOf(await rig.ask({}, { bytes: 1000 }));
  assert.deepEqual([reply.exit, reply.bytes, reply.fault], [{ code: 0 }, 1000, 'tooLarge']);
  assert.ok(existsSync(mark));
});

test('SSH-08: a command ended by a signal is no answer, and the signal is named', async () => {
  await using server = await startSshd();
  const program = script(server, 'die', 'echo partial; kill -KILL $$');
  await using rig = openRig({ host: at(server), ssh: `argv: [${program}]\nshell: Posix` });
  // The shell of the login replaces itself by the only command there is, so it is the command that dies.
  const { exit } = replyOf(await rig.ask());
  assert.deepEqual(exit, { signal: 'KILL' });
  assert.equal(folded(await rig.read()), 'REMOTE_PROTOCOL');
});

for (const keyType of ['ed25519', 'ecdsa', 'rsa'] as const) {
  test(`SSH-17: an ${keyType} key logs in where SHA-1 is not taken, with and without a passphrase`, async () => {
    const config = ['PubkeyAcceptedAlgorithms ssh-ed25519,ecdsa-sha2-nistp256,rsa-sha2-256,rsa-sha2-512'];
    for (const passphrase of [undefined, 'a long passphrase']) {
      await using server = await startSshd({ keyType, config, ...(passphrase === undefined ? {} : { passphrase }) });
      await using rig = openRig({
        host: at(server, passphrase === undefined ? {} : { passphrase }),
        ssh: 'argv: [echo, in]\nshell: Posix',
      });
      assert.deepEqual(replyOf(await rig.ask()).body, [{ line: 'in' }]);
    }
  });
}

for (const hostKey of ['ed25519', 'ecdsa', 'rsa'] as const) {
  test(`SSH-01: a pinned ${hostKey} key of a host is recognized`, async () => {
    await using server = await startSshd({ hostKeys: [hostKey] });
    await using rig = openRig({ host: at(server), ssh: 'argv: [echo, in]\nshell: Posix' });
    assert.deepEqual(replyOf(await rig.ask()).exit, { code: 0 });
    assert.deepEqual(rig.mismatches, []);
  });
}

test('SSH-02: a host whose key is another one than the pinned gets nothing of a login, now and at the next call', async () => {
  await using server = await startSshd();
  const pin = `SHA256:${'A'.repeat(43)}`;
  await using rig = openRig({ host: at(server, { pins: [pin] }) });
  for (const _ of [1, 2]) {
    const { cause, sent } = noReplyOf(await rig.ask());
    assert.deepEqual([cause, sent], ['hostKey', false]);
  }
  assert.deepEqual(rig.mismatches[0], { origin: server.origin, shown: server.fingerprints[0], pinned: [pin] });
  assert.equal(folded(await rig.read()), 'HOST_KEY_MISMATCH');
  assert.doesNotMatch(server.logTail(), /publickey|userauth|Accepted|Failed/);
});

test('SSH-10: a command that never ends, ends for its caller at the deadline of the call', async () => {
  await using server = await startSshd();
  const mark = join(server.folder, 'began');
  const program = script(server, 'wait', `touch ${mark}; sleep 600`);
  await using rig = openRig({ host: at(server), ssh: `argv: [${program}]\nshell: Posix` });
  const deadline = new AbortController();
  const asked = rig.ask({}, { signal: deadline.signal });
  await until(() => existsSync(mark));
  deadline.abort();
  const { cause, sent } = noReplyOf(await asked);
  assert.deepEqual([cause, sent], ['timedOut', true]);
});

test('SSH-07: a server that dies in the middle of a command gives no answer, whatever was written', async () => {
  await using server = await startSshd();
  const mark = join(server.folder, 'began');
  const program = script(server, 'linger', `echo partial; touch ${mark}; sleep 600`);
  await using rig = openRig({ host: at(server), ssh: `argv: [${program}]\nshell: Posix` });
  let ended = false;
  const asked = rig.ask().finally(() => {
    ended = true;
  });
  await until(() => existsSync(mark));
  await until(() => {
    killSessions(server);
    return ended;
  });
  const reply = replyOf(await asked);
  assert.deepEqual([reply.exit, reply.fault], [undefined, 'cut']);
});

test('SSH-16: a forced command gets canonical JSON on its standard input, and no word of the agent on a command line', async () => {
  await using server = await startSshd({ keyOptions: 'command="echo \\"$SSH_ORIGINAL_COMMAND\\"; cat",restrict' });
  await using rig = openRig({
    host: at(server),
    ssh: 'argv: [release, tail]\nshell: ForcedCommand\nstdin: {unit: "$(args.unit)", b: 1, a: [true]}',
    spec: 'arguments: {type: object, additionalProperties: false, required: [unit], properties: {unit: {type: string, maxLength: 50}}}\nresult: {decoder: Lines, items: [/], as: lines, fields: [{name: line}]}',
  });
  const { body } = replyOf(await rig.ask({ unit: "x' ; id #\n" }));
  assert.deepEqual(body, [{ line: 'release tail' }, { line: '{"a":[true],"b":1,"unit":"x\' ; id #\\n"}' }]);
});

test('sshd: nothing of our environment, no terminal and no agent reaches the command', async () => {
  await using server = await startSshd({ config: ['AcceptEnv *'] });
  const program = script(server, 'look', 'env; tty; echo "agent=$SSH_AUTH_SOCK tty=$SSH_TTY display=$DISPLAY"');
  await using rig = openRig({ host: at(server), ssh: `argv: [${program}]\nshell: Posix` });
  const { body } = replyOf(await rig.ask());
  const lines = (body as readonly { line: string }[]).map(({ line }) => line);
  assert.ok(lines.includes('not a tty') && lines.includes('agent= tty= display='), lines.join('\n'));
  assert.ok(!lines.some((line) => line.startsWith('NODE_') || line.startsWith('npm_')), lines.join('\n'));
});

test('LEAK-04: the private key in the output of a command is masked, whole and on one line', async () => {
  await using server = await startSshd();
  const program = script(
    server,
    'leak',
    `cat ${join(server.folder, 'user')}; grep -v -- ----- ${join(server.folder, 'user')} | tr -d '\\n'; echo`,
  );
  await using rig = openRig({ host: at(server), ssh: `argv: [${program}]\nshell: Posix` });
  const reply = replyOf(await rig.ask());
  assert.equal(reply.reflected, true);
  assert.deepEqual(reply.body, [{ line: '[masked]' }, { line: '[masked]' }]);
});

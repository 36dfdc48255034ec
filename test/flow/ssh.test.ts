/**
 * Goal: the contracts of examples/ssh do what they say. Method: a whole sidecar, two real OpenSSH servers - the hop and the host - and
 * programs on the host that count how often they ran.
 */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeKey, type Sshd, startSshd } from '#test/servers/sshd.ts';
import { ApprovalsStage } from './approvals-stage.ts';

const REASON = 'the certificate was renewed';
const SYSTEMCTL = `
if [ "$1" = show ]; then
  printf 'ActiveState=active\\nSubState=running\\nResult=success\\nActiveEnterTimestamp=Mon 2026-11-30 10:00:00 UTC\\n'
  exit 0
fi
echo "$*" >> FOLDER/restarts
[ "$3" = acme-api.service ] || { echo "Unit $3 not found." >&2; exit 5; }
[ -e FOLDER/vanish ] && { rm FOLDER/vanish; kill -KILL "$PPID"; sleep 60; }
echo restarted
`;

let hop: Sshd;
let host: Sshd;
let stage: ApprovalsStage;

/** The examples, at these servers. `pin`: what they say of the host's key. */
function contracts(pin: string): string {
  const files = ['hosts', 'service-status', 'restart-service', 'tail-release-log'];
  return files
    .map((file) => readFileSync(join('examples/ssh', `${file}.yaml`), 'utf8'))
    .join('---\n')
    .replaceAll(/hostKeys: \["SHA256:C+"\]/g, `addresses: [127.0.0.1/32], hostKeys: ["${hop.fingerprints[0]}"]`)
    .replaceAll('addresses: [10.50.0.0/16],', '')
    .replaceAll(/hostKeys: \["SHA256:A+"\]/g, `addresses: [127.0.0.1/32], hostKeys: ["${pin}"]`)
    .replaceAll('bastion.prod.example.com:22', `127.0.0.1:${hop.port}`)
    .replaceAll('web-1.prod.example.com:22', `127.0.0.1:${host.port}`)
    .replaceAll('web-1.prod.example.com', `127.0.0.1:${host.port}`)
    .replaceAll(/user: postern-[a-z]+/g, `user: ${host.user}`)
    .replaceAll('sudo, -n, ', '')
    .replaceAll('/usr/bin/systemctl', join(host.folder, 'systemctl'))
    .replaceAll('/var/log/releases', host.folder);
}

async function stageWith(pin: string): Promise<ApprovalsStage> {
  const started = await ApprovalsStage.start(contracts(pin), 0);
  for (const [secret, key, text] of [
    ['postern-ssh-bastion', 'id_ed25519', hop.privateKey],
    ['postern-ssh-bastion', 'passphrase', 'a passphrase for the hop'],
    ['postern-ssh-web-reader', 'id_ed25519', host.privateKey],
    ['postern-ssh-web-ops', 'id_ed25519', host.privateKey],
  ] as const) {
    mkdirSync(join(started.directory, 'credentials', secret), { recursive: true });
    writeFileSync(join(started.directory, 'credentials', secret, key), text);
  }
  return started;
}

const restarts = () => readFileSync(join(host.folder, 'restarts'), { encoding: 'utf8', flag: 'a+' }).split('\n').length - 1;

before(async () => {
  [hop, host] = await Promise.all([startSshd({ passphrase: 'a passphrase for the hop' }), startSshd()]);
  const program = join(host.folder, 'systemctl');
  writeFileSync(program, `#!/bin/sh${SYSTEMCTL.replaceAll('FOLDER', host.folder)}`);
  chmodSync(program, 0o755);
  stage = await stageWith(host.fingerprints[0] ?? '');
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  await Promise.all([hop[Symbol.asyncDispose](), host[Symbol.asyncDispose]()]);
});

test('ssh: service_status tells the state of a unit, and that this is all of it', async () => {
  const answer = await stage.call('service_status', { host: 'web-1', service: 'api' });
  assert.equal(answer.status, 'ok');
  assert.deepEqual(answer.data, {
    properties: [
      { property: 'ActiveState', value: 'active' },
      { property: 'SubState', value: 'running' },
      { property: 'Result', value: 'success' },
      { property: 'ActiveEnterTimestamp', value: 'Mon 2026-11-30 10:00:00 UTC' },
    ],
  });
});

test('ssh: tail_release_log gives the last 500 lines, and says whether there are older ones', async () => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `2026-11-30T10:00:00Z INFO line ${index}\n`).join('');
  writeFileSync(join(host.folder, 'api.log'), lines(600));
  writeFileSync(join(host.folder, 'storefront.log'), `${lines(2)}not a line of ours\n`);
  const long = await stage.call('tail_release_log', { host: 'web-1', service: 'api' });
  const rows = (long.data as { lines: { message?: string }[] }).lines;
  assert.deepEqual([long.status, rows.length, rows[0]?.message, rows.at(-1)?.message], ['partial', 500, 'line 100', 'line 599']);
  assert.deepEqual(
    long.completeness.incomplete_reasons.map(({ code }) => code),
    ['RESULT_LIMIT_REACHED'],
  );
  const short = await stage.call('tail_release_log', { host: 'web-1', service: 'storefront' });
  assert.deepEqual([short.status, (short.data as { lines: unknown[] }).lines.at(-1)], ['ok', { line: 'not a line of ours' }]);
});

test('ssh: a log that is not there is REMOTE_NOT_FOUND, and no empty answer', async () => {
  writeFileSync(join(host.folder, 'api.log'), '');
  assert.equal((await stage.call('tail_release_log', { host: 'web-1', service: 'api' })).status, 'ok');
  rmSync(join(host.folder, 'api.log'));
  assert.equal((await stage.refused('tail_release_log', { host: 'web-1', service: 'api' })).reason, 'REMOTE_NOT_FOUND');
});

test('ssh: restart_service waits for a person, then runs once behind the hop, and its outcome is replayed', async () => {
  const args = { host: 'web-1', service: 'api', reason: REASON };
  const waiting = await stage.asked('restart_service', args);
  assert.match(waiting.card, /Restart api on web-1/);
  assert.equal(restarts(), 0);
  await stage.approve(waiting);
  const done = await stage.call('restart_service', args, { operationId: waiting.operationId });
  assert.deepEqual(done.data, { output: { lines: ['restarted'] } });
  const again = await stage.call('restart_service', args, { operationId: waiting.operationId });
  assert.deepEqual([again.data, restarts()], [done.data, 1]);
  assert.match(hop.logTail(), /Accepted publickey/);
});

test('ssh: a restart that the host refuses is refused, and known to have done nothing', async () => {
  const args = { host: 'web-1', service: 'nginx', reason: REASON };
  const waiting = await stage.asked('restart_service', args);
  await stage.approve(waiting);
  const error = await stage.refused('restart_service', args, { operationId: waiting.operationId });
  assert.equal(error.reason, 'REMOTE_REJECTED');
});

test('SSH-07: a restart whose connection is lost is OUTCOME_UNKNOWN, and no equal call is sent', async () => {
  const args = { host: 'web-1', service: 'api', reason: 'the configuration was changed' };
  writeFileSync(join(host.folder, 'vanish'), '');
  const earlier = restarts();
  const waiting = await stage.asked('restart_service', args);
  await stage.approve(waiting);
  assert.equal((await stage.refused('restart_service', args, { operationId: waiting.operationId })).reason, 'OUTCOME_UNKNOWN');
  assert.equal((await stage.refused('restart_service', args)).reason, 'OUTCOME_UNKNOWN');
  assert.equal(restarts(), earlier + 1);
});

test('SSH-02: a host with another key gives HOST_KEY_MISMATCH, and both fingerprints stand in the log', async () => {
  const pin = `SHA256:${'A'.repeat(43)}`;
  await using wrong = await stageWith(pin);
  const error = await wrong.refused('service_status', { host: 'web-1', service: 'api' });
  assert.equal(error.reason, 'HOST_KEY_MISMATCH');
  const line = wrong.sidecar
    .log()
    .split('\n')
    .find((each) => each.includes('another key'));
  const { host_key_shown, host_key_pinned, host: origin } = JSON.parse(line ?? '{}');
  assert.deepEqual([host_key_shown, host_key_pinned, origin], [host.fingerprints[0], pin, host.origin]);
});

test('SSH-19: a key that needs a passphrase, and a key that nobody knows, are CREDENTIAL_INVALID until the file is mended', async () => {
  const file = join(stage.directory, 'credentials', 'postern-ssh-web-reader', 'id_ed25519');
  const args = { host: 'web-1', service: 'api' };
  const good = readFileSync(file, 'utf8');
  for (const [text, message] of [
    [hop.privateKey, /is encrypted, and the binding names no passphraseKey/],
    [readFileSync(await makeKey(host.folder, 'stranger', 'ed25519'), 'utf8'), /did not accept the SSH key/],
  ] as const) {
    await rewritten(file, text);
    const error = await stage.refused('service_status', args);
    assert.equal(error.reason, 'CREDENTIAL_INVALID');
    assert.match(error.message, message);
  }
  await rewritten(file, good);
  assert.equal((await stage.call('service_status', args)).status, 'ok');
});

/** A change is seen at the latest after limits.credentialCheckMs. */
async function rewritten(file: string, text: string): Promise<void> {
  writeFileSync(file, text);
  await new Promise((resolve) => setTimeout(resolve, 1000));
}

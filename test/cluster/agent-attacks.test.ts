/**
 * An agent that has been taken over, root in its container, with a shell and the token of its pod. It tries to get at the
 * credential, to act as its sidecar, and to aim the sidecar at places of its own. Each test is named after what stops it.
 */
import '#test/servers/isolated.ts';
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { nodeUnavailable } from '#test/servers/node.ts';
import { type Pod, until } from '#test/servers/pods.ts';
import { sidecarArgument } from './injected.ts';
import { binding, contract, triage } from './objects.ts';
import { applyTriage, conditionIs, firstToken, install, type Stage, startStage, system } from './stage.ts';

const skip = await nodeUnavailable();
const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';
// Metadata services, loopback: where the names lead that node-files.ts answers for.
const forbidden = { 'metadata.test': '169.254.169.254/32', 'loopback.test': '127.0.0.1/32' };

const apiScript = `
const { readFileSync } = require('node:fs');
const [method, path, body] = process.argv.slice(1);
const headers = { authorization: 'Bearer ' + readFileSync('${accountFolder}/token', 'utf8'), 'content-type': 'application/json' };
fetch('https://kubernetes.default.svc' + path, { method, headers, body }).then(async (answer) =>
  console.log(JSON.stringify({ status: answer.status, body: await answer.json() })));
`;

test('agent attack: a container with a shell and its own token', { skip }, async (t) => {
  await using stage = await startStage();
  await install(stage);
  const agent = await applyTriage(stage, { container: { securityContext: { runAsUser: 0 } } });
  const name = agent.metadata.name;
  const attempt = (title: string, run: (t: TestContext) => Promise<void>) => t.test(`agent attack: ${title}`, run);
  const shell = async (script: string) => (await stage.shell(name, script)).stdout;

  await attempt('reading the Secret from the file system is stopped by mounts that the sidecar alone has (LEAK-14)', async () => {
    const search = (value: string) => shell(`grep -rls '${value}' /var /etc /run /tmp /postern /home /root /dev/shm`);
    await shell('echo what-a-search-finds > /tmp/control');
    assert.equal((await search('what-a-search-finds')).trim(), '/tmp/control');
    assert.equal(await search(firstToken), '');
    assert.match(await shell('ls /var/run/postern 2>&1'), /No such file/);
  });

  await attempt('reading it from an environment is stopped by credentials being files of another container (LEAK-12)', async () => {
    assert.doesNotMatch(await shell('cat /proc/[0-9]*/environ'), new RegExp(firstToken));
  });

  await attempt('reading it through /proc/PID/root, environ or mem is stopped by process namespaces (INJ-26)', async () => {
    const commands = await shell("for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; echo; done");
    assert.match(commands, /sleep 100000/);
    assert.doesNotMatch(commands, /postern\.cjs sidecar|--control=/);
    assert.equal(await shell('cat /proc/[0-9]*/root/var/run/postern/credentials/*/token 2>/dev/null'), '');
  });

  await attempt('asking the API for the Secret, or for all of them, is stopped by RBAC', async () => {
    for (const path of ['/secrets/postern-issues', '/secrets', '/secrets?limit=1&watch=1']) {
      assert.equal((await api(stage, name, 'GET', `/api/v1/namespaces/${triage}${path}`)).status, 403, path);
    }
  });

  await attempt('making a pod, a Deployment, a token or a session is stopped by RBAC (INJ-31)', async () => {
    const namespaced = `namespaces/${triage}`;
    const paths = [
      `/api/v1/${namespaced}/pods`,
      `/apis/apps/v1/${namespaced}/deployments`,
      `/apis/batch/v1/${namespaced}/jobs`,
      `/api/v1/${namespaced}/serviceaccounts/triage-bot/token`,
      `/apis/postern.dev/v1alpha1/${namespaced}/agentsessions`,
      `/api/v1/${namespaced}/pods/${name}/exec?container=postern&command=cat&stdout=true`,
    ];
    for (const path of paths) assert.equal((await api(stage, name, 'POST', path, {})).status, 403, path);
  });

  await attempt('posing as the sidecar on the control stream with its own token is stopped by the audience', async () => {
    const log = await shell(impostor(agent));
    assert.doesNotMatch(log, /list_issues/);
    assert.match(log, /"(level|message)"/, 'it did not even start');
    const refused = await until('the refusal to be counted', async () => {
      const metrics = await operatorMetrics(stage);
      return /postern_operator_streams_refused_total\{[^}]*\} [1-9]/.exec(metrics)?.[0];
    });
    assert.match(refused, /refused_total/);
    assert.equal((await stage.call(name, 'list_issues')).status, 'ok', 'its real sidecar was disturbed');
  });

  await attempt('taking the port of the sidecar is stopped by the sidecar being there first (INJ-10)', async () => {
    const listen = (host: string) =>
      `node -e "require('net').createServer().on('error', (e) => console.log(e.code)).listen(7717, '${host}', () => process.exit())"`;
    assert.equal((await shell(listen('127.0.0.1'))).trim(), 'EADDRINUSE');
    assert.equal((await shell(listen('0.0.0.0'))).trim(), 'EADDRINUSE');
  });

  await attempt('forging a bundle is stopped by the state being a volume of the sidecar alone', async () => {
    await shell('mkdir -p /var/run/postern/state && echo "{}" > /var/run/postern/state/bundle.json');
    assert.equal((await stage.call(name, 'list_issues')).status, 'ok');
    assert.equal((await stage.call(name, 'forged_action')).error?.code, 'ACTION_UNKNOWN');
  });

  await attempt('opening the inspector by SIGUSR1 is stopped by process namespaces and a flag (LEAK-10)', async () => {
    await shell('for p in /proc/[0-9]*; do kill -USR1 $(basename $p); done');
    const probe =
      "require('net').connect(9229, '127.0.0.1').on('error', (e) => console.log(e.code)).on('connect', () => console.log('open'))";
    assert.equal((await shell(`node -e "${probe}"`)).trim(), 'ECONNREFUSED');
    assert.equal((await stage.call(name, 'list_issues')).status, 'ok');
  });

  await attempt('reading the value from metrics, probes or answers is stopped by their having no content', async () => {
    const metrics = await shell(`node -e "fetch('http://127.0.0.1:7718/metrics').then(async (r) => console.log(await r.text()))"`);
    assert.match(metrics, /^postern_/m);
    assert.doesNotMatch(metrics, new RegExp(firstToken));
    const answer = await stage.shell(name, `node /postern/postern.cjs call list_issues '{"project":"storefront"}' -o json`);
    assert.doesNotMatch(answer.stdout, new RegExp(firstToken));
  });

  await attempt('naming itself as the remote in /etc/hosts is stopped by the addresses the binding lists', async () => {
    const asked = stage.tracker.asked.length;
    await shell('cp /etc/hosts /tmp/hosts && echo "127.0.0.1 api.test" > /etc/hosts');
    stage.tracker.hangUp(); // What is open stays with the right remote.
    const answer = await stage.call(name, 'list_issues');
    assert.equal(answer.error?.code, 'EGRESS_DENIED');
    assert.equal(stage.tracker.asked.length, asked);
    await shell('cat /tmp/hosts > /etc/hosts');
    await until('an answer', async () => ((await stage.call(name, 'list_issues')).status === 'ok' ? true : undefined));
  });

  for (const [host, address] of Object.entries(forbidden)) {
    for (const addresses of [['172.30.0.0/16'], [address]]) {
      const named = addresses[0] === address ? ', also where the binding names it' : '';
      await attempt(`reaching ${host} through a contract is stopped by the sidecar's own look at the address${named}`, async () => {
        const origin = `https://${host}`;
        const action = `to-${host.split('.')[0]}${named === '' ? '' : '-named'}`;
        await stage.apply(
          binding({ name: action, origin, contracts: [action], addresses }),
          contract({ name: action, credential: action, origin }),
        );
        await conditionIs(stage.node, 'actioncontracts', action, 'Ready', 'True');
        const answer = await until('the contract to arrive', async () => {
          const { error } = await stage.call(name, action.replaceAll('-', '_'));
          return error?.code === 'ACTION_UNKNOWN' || error?.code === 'CONTRACT_NOT_READY' ? undefined : error;
        });
        assert.equal(answer.code, 'EGRESS_DENIED');
      });
    }
  }
});

interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** One request to the API server from the agent container, with its token. */
async function api(stage: Stage, pod: string, method: string, path: string, body?: unknown): Promise<ApiAnswer> {
  const args = [method, path, ...(body === undefined ? [] : [JSON.stringify(body)])];
  const env = ['env', `NODE_EXTRA_CA_CERTS=${accountFolder}/ca.crt`];
  const command = ['exec', '-n', triage, pod, '-c', 'agent', '--', ...env, 'node', '-e', apiScript, '--', ...args];
  const { stdout, stderr } = await stage.node.kubectl(command);
  assert.notEqual(stdout, '', stderr);
  return JSON.parse(stdout) as ApiAnswer;
}

/** The real program, started by the agent with what it has: its own token in place of the projected one. */
function impostor(agent: Pod): string {
  const flags = [
    `--control=${sidecarArgument(agent, '--control')}`,
    `--control-pin=${sidecarArgument(agent, '--control-pin')}`,
    `--control-token=${accountFolder}/token`,
    '--credentials=/tmp/credentials',
    '--state=/tmp/state',
    '--listen=127.0.0.1:7801',
    '--admin-listen=127.0.0.1:7802',
  ].join(' ');
  return [
    'mkdir -p /tmp/credentials /tmp/state && chmod 700 /tmp/state',
    `node --disable-sigusr1 /postern/postern.cjs sidecar ${flags} > /tmp/impostor.log 2>&1 & pid=$!`,
    'sleep 6',
    'node /postern/postern.cjs actions --address 127.0.0.1:7801 2>&1',
    'kill $pid',
    'cat /tmp/impostor.log',
  ].join('\n');
}

async function operatorMetrics({ node }: Stage): Promise<string> {
  const path = `/api/v1/namespaces/${system}/pods?labelSelector=app.kubernetes.io%2Fcomponent%3Doperator`;
  const { body } = await node.request<{ items: readonly Pod[] }>('GET', path);
  const texts = body.items.map(async ({ status }) => (await fetch(`http://${status?.podIP}:7718/metrics`)).text());
  return (await Promise.all(texts)).join('\n');
}

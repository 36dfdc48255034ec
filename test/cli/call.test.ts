/**
 * Goal: what a person and a script get from `postern actions` and `postern call`. Method: the program as a process, a
 * real sidecar, exit codes and streams as the shell sees them; progress on a real pseudo-terminal.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { contractFile, keysetList } from '#test/flow/contract-file.ts';
import { type Stage, sendJson, startStage, startUpstream, type Upstream } from '#test/flow/stage.ts';
import { program, type Ran, run, runPostern } from './run-postern.ts';

const CONTRACTS = contractFile({
  'list-rows': `
  summary: List rows of $(args.group)
  arguments: {type: object, additionalProperties: false, required: [group], properties: {group: {type: string, enum: [small, big, "it's"]}}}
  http: {credential: reader, method: GET, url: "UPSTREAM/rows", query: {group: "$(args.group)", after: "$(next.after)"}}
${keysetList('limits: {pages: 3, items: 500, time: 20s}')}`,
});

let upstream: Upstream;
let stage: Stage;

before(async () => {
  upstream = await startUpstream(({ url }, response) => {
    const start = Number(url.searchParams.get('after') ?? 0);
    const small = url.searchParams.get('group') === 'small';
    // A terminal escape in a value: a person must never see it act.
    const items = [{ id: start + 1, text: 'a\u001b[31mred' }, { id: start + 2 }];
    sendJson(response, 200, { items, next: small ? null : start + 2 });
  });
  stage = await startStage({
    contracts: CONTRACTS,
    upstreamPort: upstream.port,
    credentials: { 'postern-flow/token': 'flow-token-0123456789' },
  });
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

type ActionDocument = Readonly<Record<'action' | 'ready' | 'absence' | 'result', unknown>>;

/** Against the stage, unless `address` says otherwise. */
function postern(args: readonly string[], options: { stdin?: string; address?: string } = {}): Promise<Ran> {
  return runPostern(args, { POSTERN_ADDRESS: options.address ?? stage.sidecar.address }, options.stdin);
}

test('call: a complete answer exits 0 and says so first', async () => {
  const { code, out } = await postern(['call', 'list_rows', '{"group":"small"}']);
  assert.equal(code, 0);
  assert.match(out, /^COMPLETE: 2 returned \(rows; single page\)/);
});

test('call: a partial answer exits 3 and prints a command line that goes on', async () => {
  const { code, out } = await postern(['call', 'list_rows', '{"group":"it\'s"}']);
  assert.equal(code, 3);
  assert.match(out, /^NOT COMPLETE: 6 returned/);
  const wayOn = /way on: postern (call .*)/.exec(out)?.[1] ?? '';
  const shell = await run('sh', ['-c', `${process.execPath} ${program} ${wayOn} -o json`], { POSTERN_ADDRESS: stage.sidecar.address });
  assert.equal(shell.code, 3);
  assert.equal(JSON.parse(shell.out).completeness.page.walk.returned, 12);
});

test('call: a partial answer names the limit that ended it, and the way on asks the same sidecar', async () => {
  const { address } = stage.sidecar;
  const { out } = await postern(['call', 'list_rows', '{"group":"big"}', '--address', address], { address: '127.0.0.1:1' });
  assert.match(out, /why: RESULT_LIMIT_REACHED \(sidecar, pages 3\)/);
  assert.ok(out.includes(`way on: postern call list_rows '{"group":"big"}' --address ${address} --cursor `));
});

test('call: -o json is the whole envelope, also for arguments from standard input', async () => {
  const { code, out } = await postern(['call', 'list_rows', '-', '-o', 'json'], { stdin: '{"group":"small"}' });
  assert.equal(code, 0);
  const answer = JSON.parse(out);
  assert.equal(answer.completeness.complete, true);
  assert.equal(answer.data.rows.length, 2);
  assert.equal(typeof answer.evidence, 'string');
});

test('call: an error exits 1 with path and rule, and as JSON on demand', async () => {
  const text = await postern(['call', 'list_rows', '{"group":"none"}']);
  assert.equal(text.code, 1);
  assert.match(text.err, /error: INVALID_ARGUMENT.*\n {2}\/group: /);
  const json = await postern(['call', 'list_rows', '{"group":"none"}', '-o', 'json']);
  assert.equal(json.code, 1);
  assert.equal(JSON.parse(json.out).error.code, 'INVALID_ARGUMENT');
});

test('call: wrong usage exits 2 with the cure', async () => {
  const nobody = await postern(['call', 'list_rows', '{}'], { address: '127.0.0.1:1' });
  assert.equal(nobody.code, 2);
  assert.match(nobody.err, /no sidecar answers at 127\.0\.0\.1:1\n.*postern sidecar/);
  for (const address of ['sidecar.example:7717', '127.0.0.1:99999', '300.0.0.1:80']) {
    const { code, err } = await postern(['actions'], { address });
    assert.equal(code, 2, err);
    assert.match(err, /POSTERN_ADDRESS is not a literal address and a port/);
  }
  const duration = await postern(['call', 'list_rows', '{}', '--deadline', '20']);
  assert.equal(duration.code, 2);
  assert.match(duration.err, /--deadline.*500ms, 20s or 2m/);
  const command = await postern(['cal']);
  assert.equal(command.code, 2);
  assert.match(command.err, /Did you mean call\?/);
});

test('call: control characters of the remote are shown, not obeyed', async () => {
  const { out } = await postern(['call', 'list_rows', '{"group":"small"}']);
  assert(!out.includes(String.fromCharCode(27)));
  assert.match(out, /red/);
});

test('call: a long walk shows its progress on a terminal, and nothing of it elsewhere', async () => {
  const command = `${process.execPath} ${program} call list_rows '{"group":"big"}'`;
  const terminal = await run('script', ['-qec', command, '/dev/null'], { POSTERN_ADDRESS: stage.sidecar.address });
  assert.match(terminal.out, /2 items, 1 pages/);
  const piped = await postern(['call', 'list_rows', '{"group":"big"}']);
  assert.equal(piped.err, '');
});

test('actions: names arguments, results and limits, as text and as JSON', async () => {
  const text = await postern(['actions']);
  assert.equal(text.code, 0);
  assert.match(text.out, /list_rows {2}List rows of \{group\}/);
  assert.match(text.out, /group: string; one of small, big/);
  assert.match(text.out, /at most 3 pages, 500 items, 20 s/);
  const json = await postern(['actions', '-o', 'json']);
  assert.deepEqual(
    JSON.parse(json.out).map(({ action, ready, absence, result }: ActionDocument) => [action, ready, absence, result]),
    [
      [
        'list_rows',
        true,
        'PROVABLE',
        {
          as: 'rows',
          kind: 'ITEMS',
          fields: [
            { name: 'id', presence: 'REQUIRED' },
            { name: 'text', presence: 'OPTIONAL' },
          ],
          all_fields: false,
        },
      ],
    ],
  );
});

test('help: every command has examples', async () => {
  for (const command of ['sidecar', 'actions', 'call']) {
    const { code, out } = await postern([command, '--help']);
    assert.equal(code, 0);
    assert.match(out, /Examples:\n {2}postern/);
  }
});

/**
 * The contract commands as a person meets them: what they print, what they call an error, how they exit.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { CommanderError } from 'commander';
import { contractCommand } from '#cli/contract.ts';
import { escapeCommand } from '#cli/contract-escape.ts';
import { UsageError } from '#cli/report-failure.ts';
import { assemble } from '#core/contract/assemble.ts';
import { type Encoders, strictEncoders } from '#core/contract/encode.ts';
import { escapeContract } from '#sidecar/contract-test/escape.ts';

const root = mkdtempSync(join(tmpdir(), 'postern-contract-'));
after(() => rmSync(root, { recursive: true }));

/** Writes the files below a fresh directory and gives it. */
function directory(files: Readonly<Record<string, string>>): string {
  const where = mkdtempSync(join(root, 'case-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(where, name)), { recursive: true });
    writeFileSync(join(where, name), text);
  }
  return where;
}

interface Printed {
  readonly out: string;
  readonly err: string;
  readonly code: number | undefined;
}

async function run(where: string, ...args: readonly string[]): Promise<Printed> {
  const out: string[] = [];
  const err: string[] = [];
  let code: number | undefined;
  const command = contractCommand({
    clock: { wallMs: () => Date.parse('2026-06-01T00:00:00Z') },
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    exit: (given) => {
      code = given;
    },
  });
  const output = { writeOut: (text: string) => out.push(text), writeErr: (text: string) => err.push(text) };
  for (const one of [command, ...command.commands]) one.exitOverride().configureOutput(output);
  await command.parseAsync([...args], { from: 'user' });
  // Paths of this machine are no part of what is printed.
  const short = (lines: readonly string[]) => lines.join('\n').replaceAll(`${where}/`, '');
  return { out: short(out), err: short(err), code };
}

const BINDING = `apiVersion: postern.dev/v1alpha1
kind: CredentialBinding
metadata: {name: stock}
spec:
  owner: stock-team
  secret: {name: postern-stock}
  contracts: [list-stock, move-stock]
  destinations: [{origin: "https://stock.example.test"}]
  use: {bearer: {key: token}}
`;

const CONTRACT = `apiVersion: postern.dev/v1alpha1
kind: ActionContract
metadata: {name: list-stock}
spec:
  action: list_stock
  summary: List the stock of $(args.warehouse)
  owner: stock-team
  effect: Read
  callers: [{serviceAccount: agent}]
  credentials: [stock]
  arguments:
    type: object
    additionalProperties: false
    required: [warehouse]
    properties: {warehouse: {type: string, enum: [north, south]}, words: {type: string, minLength: 1, maxLength: 200}}
  http:
    credential: stock
    method: GET
    url: https://stock.example.test/v1/$(args.warehouse)/items
    query: {after: "$(next.after)", q: "$(args.words)"}
  result:
    items: [/items]
    id: [/sku]
    fields: [{name: sku}]
  completeness:
    paging: {next: [{name: after, from: [{body: /next}]}], end: {nextIs: [Absent]}}
    consistency: {mode: Declared, because: the list is sorted by its key}
    notices: [{name: lag, when: "has(body.stale) && body.stale", warning: index-lag}]
    scope: {resource: items in stock, visibility: items the team may see, absence: Provable}
  warnings: [{name: index-lag, code: STALE_INDEX, owner: search-team, expires: "2026-06-15", message: The index lags behind}]
`;

const MOVE = `apiVersion: postern.dev/v1alpha1
kind: ActionContract
metadata: {name: move-stock}
spec:
  action: move_stock
  summary: Move the stock of $(args.warehouse)
  owner: stock-team
  effect: Write
  callers: [{serviceAccount: agent}]
  credentials: [stock]
  arguments: {type: object, additionalProperties: false, required: [warehouse], properties: {warehouse: {type: string, enum: [north, south]}}}
  approval: {mode: EachCall}
  http: {credential: stock, method: POST, url: "https://stock.example.test/v1/$(args.warehouse)/moves"}
  result: {object: /, fields: [{name: id}]}
`;

const TEST = `apiVersion: postern.dev/v1alpha1
kind: ContractTest
metadata: {name: one-page}
spec:
  contract: list-stock
  arguments: {warehouse: north}
  exchanges:
  - request: {method: GET, path: /v1/north/items, query: {after: null}}
    response: {status: 200, headers: {content-type: application/json}, body: {items: [{sku: a}], stale: true}}
  expect: {status: ok, items: 1, warnings: [STALE_INDEX]}
`;

test('lint: a sound directory prints what becomes of each contract and what expires', async () => {
  const where = directory({
    'stock/contract.yaml': CONTRACT,
    'stock/move.yml': MOVE,
    'bindings.yaml': BINDING,
    '.hidden/broken.yaml': 'kind: [',
  });
  const { out, code } = await run(where, 'lint', where);
  assert.equal(
    out,
    `list-stock: best: Complete
move-stock: best: Complete

Expires within 30 days:
  2026-06-15  list-stock: warning index-lag (owner search-team)

3 files, 2 contracts compiled; 0 errors, 0 warnings`,
  );
  assert.equal(code, 0);
});

test('lint: every problem is printed at once, with file, line, path, code, nearest name and cure', async () => {
  const broken = CONTRACT.replace('$(args.words)', '$(args.word)')
    .replace('effect: Read', 'efect: Read')
    .replace('warning: index-lag', 'warning: index-lags');
  const where = directory({ 'contract.yaml': `# the contract\n${broken}`, 'bindings.yaml': BINDING });
  const { out, code } = await run(where, 'lint', where);
  assert.equal(out, readGolden('lint.txt', out));
  assert.equal(code, 1);
});

test('lint: -o json holds the same problems, and --strict fails on a warning alone', async () => {
  const where = directory({ 'contract.yaml': CONTRACT.replace('    notices:', '    # notices:'), 'bindings.yaml': BINDING });
  const { out, code } = await run(where, 'lint', where, '-o', 'json');
  const report = JSON.parse(out);
  assert.deepEqual(
    report.problems.map(({ code: word, severity }: { code: string; severity: string }) => [word, severity]),
    [['warning-unused', 'warning']],
  );
  assert.deepEqual(
    report.contracts.map(({ name, ready, best }: { name: string; ready: boolean; best: string }) => [name, ready, best]),
    [['list-stock', true, 'Complete']],
  );
  assert.equal(code, 0);
  assert.equal((await run(where, 'lint', where, '--strict')).code, 1);
});

test('lint: links to files are read as in a mounted ConfigMap, hidden directories and foreign files are not', async () => {
  const where = directory({
    '..data/contract.yaml': CONTRACT,
    'bindings.yaml': BINDING,
    'node_modules/x/y.yaml': 'kind: [',
    'notes.txt': 'kind: [',
  });
  symlinkSync('..data/contract.yaml', join(where, 'contract.yaml'));
  symlinkSync('missing.yaml', join(where, 'dangling.yaml'));
  const { out, code } = await run(where, 'lint', where);
  assert.match(out, /^list-stock: best: Complete$/m);
  assert.match(out, /2 files, 1 contract compiled; 0 errors/);
  assert.equal(code, 0);
});

test('lint: two objects of one name are an error that names the other place', async () => {
  const where = directory({ 'a.yaml': CONTRACT, 'b.yaml': CONTRACT, 'bindings.yaml': BINDING });
  const { out, code } = await run(where, 'lint', where);
  assert.match(out, /^b\.yaml:3: metadata\.name: object-twice: .*a\.yaml:1/m);
  assert.equal(code, 1);
});

test('explain: every line of the merged contract has its origin', async () => {
  const preset = CONTRACT.replace(
    / {4}paging:.*\n {4}consistency:.*\n/,
    '    preset: google-aip-v1\n    consistency: {mode: Declared, because: the list is sorted by its key}\n    limits: {pageSize: 100}\n',
  ).replace('after: "$(next.after)", ', '');
  const where = directory({ 'contract.yaml': preset, 'bindings.yaml': BINDING });
  const { out, code } = await run(where, 'explain', where, '--action', 'list_stock');
  assert.match(out, /^# list_stock: best answer Complete, ready$/m);
  assert.match(out, /^action: list_stock +# contract:5$/m);
  assert.match(out, /pageToken: "\$\(next\.token\)" +# preset google-aip-v1$/m);
  assert.match(out, / # default$/m);
  assert.equal(code, 0);
});

test('explain: a contract with errors is shown as far as it can be merged, and exits 1', async () => {
  const where = directory({ 'contract.yaml': CONTRACT.replace('effect: Read', 'effect: Reed'), 'bindings.yaml': BINDING });
  const { out, err, code } = await run(where, 'explain', where);
  assert.match(out, /has errors/);
  assert.match(err, /spec\.effect/);
  assert.equal(code, 1);
});

test('diff: a widened authority is named and exits 1, a narrowed one does not', async () => {
  const old = directory({ 'a.yaml': CONTRACT, 'b.yaml': BINDING });
  const wide = directory({ 'all.yaml': [CONTRACT.replace('[north, south]', '[north, south, east]'), BINDING].join('---\n') });
  const widened = await run(old, 'diff', old, wide);
  assert.match(widened.out, /^WIDENED {3}ActionContract\/list-stock {2}spec\.arguments\.properties\.warehouse\.enum/m);
  assert.match(widened.out, /^void +list_stock: /m);
  assert.equal(widened.code, 1);
  const narrowed = await run(old, 'diff', wide, old);
  assert.match(narrowed.out, /^narrowed {2}ActionContract/m);
  assert.equal(narrowed.code, 0);
  assert.equal((await run(old, 'diff', old, old)).out, 'No difference in what the contracts allow.');
  assert.ok(
    JSON.parse((await run(old, 'diff', old, wide, '-o', 'json')).out).changes.some(
      ({ direction }: { direction: string }) => direction === 'widened',
    ),
  );
});

test('test: a passing recording is printed and written as JUnit XML', async () => {
  const where = directory({ 'contract.yaml': CONTRACT, 'bindings.yaml': BINDING, 'recordings/one.yaml': TEST });
  const junit = join(where, 'out/report.xml');
  const { out, code } = await run(where, 'test', where, '--junit', junit);
  assert.equal(out, 'ok    list-stock  one-page\n1 passed, 0 failed');
  assert.equal(code, 0);
  assert.match(readFileSync(junit, 'utf8'), /<testcase name="one-page" classname="list-stock"\/>/);
});

test('test: a failing recording exits 1 and says what differs', async () => {
  const where = directory({
    'all.yaml': [CONTRACT, BINDING, TEST.replace('items: 1', 'items: 2').replace('/v1/north', '/v1/south')].join('---\n'),
  });
  const { out, code } = await run(where, 'test', join(where, 'all.yaml'));
  assert.equal(out, readGolden('test-failure.txt', out));
  assert.equal(code, 1);
});

test('test: coverage names the rules no test needs, and can be required', async () => {
  const signal = '    signals: [{name: cut, when: "has(body.cut) && body.cut", reason: SOURCE_UNAVAILABLE}]\n    scope:';
  const where = directory({ 'all.yaml': [CONTRACT.replace('    scope:', signal), BINDING, TEST].join('---\n') });
  const { out, code } = await run(where, 'test', where, '--coverage');
  assert.match(out, /coverage of list-stock: 3 of 4 rules are needed by a test/);
  assert.match(out, /UNUSED {3}signal {4}cut {2}\(no recording meets it\)/);
  assert.match(out, /needed {3}notice {4}lag {2}\(by one-page\)/);
  assert.equal(code, 0);
  assert.equal((await run(where, 'test', where, '--require-coverage')).code, 1);
});

test('test: a recording that is no test is an error with its line', async () => {
  const where = directory({ 'all.yaml': [CONTRACT, BINDING, TEST.replace('warnings: [STALE', 'warning: [STALE')].join('---\n') });
  const { out, code } = await run(where, 'test', where);
  assert.match(out, /FAIL {2}list-stock {2}one-page|FAIL .*one-page/);
  assert.match(out, /spec\.expect\.warning: unknown-field/);
  assert.equal(code, 1);
});

test('escape: a sound contract keeps every input in its slot', async () => {
  const where = directory({ 'all.yaml': [CONTRACT, BINDING, TEST].join('---\n') });
  const { out, code } = await run(where, 'escape', where, '--runs', '20', '--seed', '3');
  assert.match(out, /^list-stock: 3 slots, \d+ fired, \d+ stayed in their slot, \d+ refused, 0 escaped\n {2}refused by: enum \d+/);
  assert.equal(code, 0);
});

test('escape: what left its slot is printed with where it came out and what the server saw, and exits 1', async () => {
  const where = directory({ 'all.yaml': [CONTRACT, BINDING].join('---\n') });
  const out: string[] = [];
  let code: number | undefined;
  const io = { clock: { wallMs: () => 0 }, out: (text: string) => out.push(text), err: () => {}, exit: (given: number) => (code = given) };
  const bad: Encoders = { ...strictEncoders, query: (text) => text };
  const command = escapeCommand(io, (options) =>
    escapeContract({ ...options, assemble: (template, values) => assemble(template, values, { encoders: bad }) }),
  );
  await command.parseAsync([where, '--runs', '5'], { from: 'user' });
  const text = out.join('\n');
  assert.match(text, /^list-stock: 3 slots, \d+ fired, \d+ stayed in their slot, \d+ refused, [1-9]\d* escaped$/m);
  assert.match(text, /^ {2}ESCAPED from args\.words of request \(.+\): ".*"\n {4}assembler: /m);
  assert.match(text, /\.\.\. and \d+ more like these$/m);
  assert.equal(code, 1);
});

test('escape: an action that is not there is answered with the nearest one', async () => {
  const where = directory({ 'all.yaml': [CONTRACT, BINDING].join('---\n') });
  await assert.rejects(
    run(where, 'escape', where, '--action', 'list_stok'),
    (error: unknown) => error instanceof UsageError && /list_stock/.test(error.cure),
  );
});

test('all: what leads nowhere is wrong usage, never an empty success', async () => {
  const empty = directory({ 'readme.txt': 'nothing here' });
  for (const command of ['lint', 'explain', 'test', 'escape']) {
    await assert.rejects(
      run(empty, command, join(empty, 'missing')),
      (error: unknown) => error instanceof UsageError && /does not exist/.test(error.message),
    );
    await assert.rejects(
      run(empty, command, empty),
      (error: unknown) => error instanceof UsageError && /holds no \.yaml/.test(error.message),
    );
    await assert.rejects(run(empty, command), CommanderError);
  }
  const untested = directory({ 'contract.yaml': CONTRACT });
  await assert.rejects(
    run(untested, 'test', untested),
    (error: unknown) => error instanceof UsageError && /No ContractTest/.test(error.message),
  );
  const broken = directory({ 'contract.yaml': CONTRACT.replace('effect: Read', '') });
  await assert.rejects(run(broken, 'escape', broken), (error: unknown) => error instanceof UsageError && /lint/.test(error.cure));
});

test('all: every help text has examples and the exit codes', async () => {
  const command = contractCommand();
  assert.match(await helpOf([]), /Examples:\n {2}postern contract/);
  for (const { name } of command.commands.map((sub) => ({ name: sub.name() }))) {
    const help = await helpOf([name]);
    assert.match(help, new RegExp(`Examples:\\n {2}postern contract ${name} `), name);
    assert.match(help, /Exit codes: 0 /, name);
  }
});

async function helpOf(words: readonly string[]): Promise<string> {
  let printed = '';
  const command = contractCommand();
  for (const one of [command, ...command.commands]) one.exitOverride().configureOutput({ writeOut: (text) => (printed += text) });
  await assert.rejects(command.parseAsync([...words, '--help'], { from: 'user' }), CommanderError);
  return printed;
}

/** The expected text; `UPDATE_VECTORS=1` writes it anew. */
function readGolden(name: string, actual: string): string {
  const file = new URL(`./golden/${name}`, import.meta.url);
  if (process.env.UPDATE_VECTORS === '1') {
    mkdirSync(new URL('.', file), { recursive: true });
    writeFileSync(file, actual);
  }
  return readFileSync(file, 'utf8');
}

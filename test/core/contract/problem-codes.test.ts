import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { compileBinding } from '#core/contract/binding.ts';
import { checkPreset } from '#core/contract/check-preset.ts';
import type { Problem } from '#core/contract/problem.ts';
import { PROBLEM_CODES, type ProblemCode } from '#core/contract/problem-codes.ts';
import { readYaml } from '#core/contract/read-yaml.ts';
import { COMPLETENESS_ROWS, REQUEST_ROWS, type Row, STRUCTURE_ROWS } from './problem-rows.ts';
import { EFFECT_ROWS, REFERENCE_ROWS } from './problem-rows-effects.ts';
import {
  type Around,
  type Changes,
  compileObject,
  compileSample,
  objectOf,
  objectsIn,
  sampleBinding,
  sampleContract,
} from './sample-objects.ts';

const produced = new Set<string>();

function expectProblem(problems: readonly Problem[], code: string, path: string): void {
  const found = problems.find((problem) => problem.code === code && problem.path === path);
  assert.ok(
    found !== undefined,
    `${code} at ${path} is missing among: ${problems.map((each) => `${each.code} ${each.path}`).join(', ') || 'none'}`,
  );
  assert.equal(found.severity, PROBLEM_CODES[code as ProblemCode].severity);
  assert.ok(found.message !== '' && found.cure !== '');
  produced.add(code);
}

for (const [code, path, changes, note] of [
  ...STRUCTURE_ROWS,
  ...REQUEST_ROWS,
  ...COMPLETENESS_ROWS,
  ...EFFECT_ROWS,
] satisfies readonly Row[]) {
  const about = note === undefined ? Object.keys(changes).join(', ') : note;
  test(`problem ${code}: found at ${path} (${about})`, () => {
    expectProblem(compileSample(changes).problems, code, path);
  });
}

const SSH = { credential: 'api-reader', host: 'a.example.com', argv: ['uptime'], shell: 'Posix' };
const SSH_CONTRACT: Changes = {
  http: undefined,
  ssh: SSH,
  completeness: { paging: { mode: 'SingleResponse' }, limits: { pageSize: 1 } },
  warnings: [],
};
const SSH_ROWS: readonly Row[] = [
  ['ssh-host', 'spec.ssh.host', { ...SSH_CONTRACT, 'ssh.host': '$(args.code)' }],
  ['ssh-argv', 'spec.ssh.argv', { ...SSH_CONTRACT, 'ssh.argv': ['$(args.code)'] }],
  ['ssh-argv', 'spec.ssh.argv', { ...SSH_CONTRACT, 'ssh.argv': ['/bin/bash', '-c', 'x'] }],
  ['ssh-argv', 'spec.ssh.argv', { ...SSH_CONTRACT, 'ssh.argv': ['sudo', '-n', 'sh'] }],
  ['method-read-only', 'spec.ssh', SSH_CONTRACT],
  ['slot-free-text', 'spec.ssh.argv[1]', { ...SSH_CONTRACT, 'ssh.argv': ['tail', '$(args.note)'], 'arguments.required': ['note'] }],
];
for (const [code, path, changes] of SSH_ROWS) {
  test(`problem ${code}: found at ${path} of an SSH target`, () => {
    expectProblem(compileSample(changes).problems, code, path);
  });
}

const BINDING_ROWS: readonly Row[] = [
  ['binding-secret-name', 'spec.secret.name', { 'secret.name': 'github' }],
  ['binding-use', 'spec.use', { use: { bearer: { key: 'a' }, basic: { usernameKey: 'a', passwordKey: 'b' } } }],
  ['binding-use', 'spec.use', { use: {} }],
  ['binding-key-name', 'spec.use.bearer.key', { 'use.bearer.key': '../token' }],
  ['binding-origin', 'spec.destinations[0].origin', { 'destinations.0.origin': 'api.example.com' }],
  [
    'binding-origin',
    'spec.destinations[0].origin',
    { 'destinations.0.origin': 'https://[::1]:8443', 'destinations.0.addresses': ['10.0.0.0/8'] },
  ],
  ['binding-origin', 'spec.destinations[0].origin', { 'destinations.0.origin': 'https://10.0.0.1' }],
  ['binding-origin', 'spec.destinations[0].origin', { 'destinations.0.origin': 'https://127.0.0.1:8443' }],
  ['url-host-not-canonical', 'spec.destinations[0].origin', { 'destinations.0.origin': 'https://127.1' }],
  ['url-plaintext', 'spec.destinations[0].origin', { 'destinations.0.origin': 'http://10.0.0.1:8080' }],
  [
    'url-plaintext',
    'spec.destinations[0].origin',
    { 'destinations.0.origin': 'http://api.example.com', 'destinations.0.transport': 'Plaintext' },
  ],
  ['binding-address', 'spec.destinations[0].addresses[0]', { 'destinations.0.addresses': ['10.20.0.1/16'] }],
  ['binding-address', 'spec.destinations[0].addresses[0]', { 'destinations.0.addresses': ['0.0.0.0/0'] }],
  ['binding-address', 'spec.destinations[0].addresses[0]', { 'destinations.0.addresses': ['ten/8'] }],
  ['binding-path-prefix', 'spec.destinations[0].pathPrefixes[0]', { 'destinations.0.pathPrefixes': ['/a/../b'] }],
  [
    'binding-host-keys',
    'spec.destinations[0].hostKeys',
    { 'destinations.0.origin': 'ssh://a.example.com:22', use: { sshKey: { user: 'u', privateKeyKey: 'k' } } },
  ],
  ['binding-signing', 'spec.destinations[0].signing', { use: { awsSigV4: { accessKeyIdKey: 'a', secretAccessKeyKey: 'b' } } }],
  ['binding-transport', 'spec.destinations[0].transport', { 'destinations.0.transport': 'Plaintext' }],
  ['binding-kind', 'spec.destinations[0].origin', { use: { sshKey: { user: 'u', privateKeyKey: 'k' } } }],
  ['duplicate-name', 'spec.destinations[1].origin', { 'destinations.1': { origin: 'https://api.example.com' } }],
  ['header-reserved', 'spec.use.header.name', { use: { header: { name: 'host', key: 'k' } } }],
  [
    'binding-destination',
    'spec.use.oauth2ClientCredentials.tokenUrl',
    { use: { oauth2ClientCredentials: { tokenUrl: 'https://id.example.com/t', clientIdKey: 'a', clientSecretKey: 'b' } } },
  ],
  ['missing-field', 'spec.contracts', { contracts: undefined }],
  ['unknown-field', 'spec.destinations[0].pathPrefix', { 'destinations.0.pathPrefix': '/' }],
];
for (const [code, path, changes] of BINDING_ROWS) {
  test(`problem ${code}: found at ${path} of a binding (${Object.keys(changes).join(', ')})`, () => {
    const result = compileBinding(sampleBinding(changes));
    assert.equal(result.binding, undefined);
    expectProblem(result.problems, code, path);
  });
}

const many = Array.from({ length: 9 }, (_, index) => `b${index}`);
const preset = (spec: string, name = 'shop-v1') => objectOf('ContractPreset', name, spec);
const AROUND_ROWS: readonly (readonly [code: string, path: string, changes: Changes, around: Around])[] = [
  ['binding-too-many', 'spec.credentials', { credentials: many }, {}],
  ['binding-unlisted', 'spec.http.credential', { 'http.credential': 'api-raeder' }, {}],
  ['binding-unused', 'spec.credentials[1]', { credentials: ['api-reader', 'other'] }, {}],
  ['binding-not-granted', 'spec.credentials[0]', {}, { bindings: [sampleBinding({ contracts: [] })] }],
  ['binding-destination', 'spec.http.url', { 'http.url': 'https://api.example.com/v2/things' }, {}],
  ['binding-destination', 'spec.http.url', { 'http.url': 'https://api.example.org/v1/shops/a' }, {}],
  ['binding-destination', 'spec.http.url', { 'http.url': 'https://api.example.com/v1/$(args.code)/things' }, {}],
  ['binding-destination', 'spec.http.method', { 'http.method': 'PUT', readOnlyBecause: 'x' }, {}],
  [
    'binding-kind',
    'spec.http.credential',
    {},
    {
      bindings: [
        sampleBinding({
          'destinations.0': { origin: 'ssh://a.example.com:22', hostKeys: [`SHA256:${'A'.repeat(43)}`] },
          use: { sshKey: { user: 'u', privateKeyKey: 'k' } },
        }),
      ],
    },
  ],
  [
    'header-credential',
    'spec.http.headers.x-token',
    { 'http.headers.x-token': 'x' },
    { bindings: [sampleBinding({ use: { header: { name: 'x-token', key: 'k' } } })] },
  ],
  [
    'preset-base',
    'spec.completeness.preset',
    { 'completeness.preset': 'shop-v1' },
    { presets: [preset('base: b-v1\n'), preset('base: c-v1\n', 'b-v1'), preset('result: {}\n', 'c-v1')] },
  ],
  [
    'preset-weakened',
    'spec.completeness.without[0]',
    { 'completeness.preset': 'shop-v1', 'completeness.without': [{ list: 'signals', name: 'half', because: 'known' }] },
    { presets: [preset('completeness: {signals: [{name: half, when: "true", reason: SOURCE_UNAVAILABLE}]}\n')] },
  ],
  [
    'bad-expression',
    'spec.completeness.signals[0].when',
    { 'completeness.preset': 'shop-v1' },
    { presets: [preset('completeness: {signals: [{name: half, when: "tru", reason: SOURCE_UNAVAILABLE}]}\n')] },
  ],
];
for (const [code, path, changes, around] of [...AROUND_ROWS, ...REFERENCE_ROWS]) {
  test(`problem ${code}: found at ${path} beside other objects (${Object.keys(changes).slice(-1).join('') || 'binding'})`, () => {
    expectProblem(compileSample(changes, around).problems, code, path);
  });
}

test('problem unknown-field: a misspelled block of a preset refuses every contract on it', () => {
  const presets = [preset('completeness: {signls: []}\n')];
  expectProblem(compileSample({ 'completeness.preset': 'shop-v1' }, { presets }).problems, 'unknown-field', 'spec.completeness.signls');
});

test('problem binding-destination: a followed path leaves the path prefixes', () => {
  const paging = { follow: { from: [{ body: '/n' }], vary: ['x'], paths: ['/v1/shops/all', '/v2/shops'] }, end: { nextIs: ['Absent'] } };
  const { problems } = compileSample({ 'completeness.paging': paging, 'http.query.after': undefined });
  expectProblem(problems, 'binding-destination', 'spec.completeness.paging.follow.paths[1]');
});

const PRESET_ROWS: readonly (readonly [code: string, path: string, spec: string, name?: string])[] = [
  ['preset-field', 'spec.summary', 'summary: x\n'],
  ['preset-field', 'spec.http.url', 'http: {url: "https://api.example.com"}\n'],
  ['preset-unknown', 'spec.base', 'base: no-v1\n'],
  ['preset-base', 'spec.base', 'base: based-v1\n'],
  ['bad-name', 'metadata.name', 'result: {}\n', 'shop'],
  ['unknown-field', 'spec.result.itms', 'result: {itms: [/]}\n'],
];
for (const [code, path, spec, name] of PRESET_ROWS) {
  test(`problem ${code}: found at ${path} of a preset`, () => {
    expectProblem(checkPreset(preset(spec, name), [preset('base: x-v1\n', 'based-v1')]), code, path);
  });
}

test('problems: the presets shipped have none', () => {
  const presets = objectsIn('presets').filter(({ kind }) => kind === 'ContractPreset');
  assert.ok(presets.length >= 16);
  assert.deepEqual(
    presets.flatMap((each) => checkPreset(each, presets)),
    [],
  );
});

const YAML_ROWS: readonly (readonly [code: string, path: string, text: string])[] = [
  ['yaml-syntax', '', 'a: ['],
  ['yaml-anchor', 'a', 'a: &x 1\nb: *x\n'],
  ['yaml-anchor', 'a[0]', 'a: &a [*a]\n'],
  ['yaml-merge-key', '', '<<: {a: 1}\n'],
  ['yaml-tag', 'a', 'a: !!binary aGk=\n'],
  ['yaml-duplicate-key', '', 'a: 1\na: 2\n'],
  ['yaml-duplicate-key', '', 'a: 1\n"\\u0061": 2\n'],
  ['yaml-key', '', '1: x\n'],
  ['yaml-key', '', '__proto__: {x: 1}\n'],
  ['yaml-number', 'a', 'a: 9007199254740993\n'],
  ['yaml-number', 'a', 'a: .inf\n'],
  ['yaml-too-large', '', `a: "${'x'.repeat(limits.contractFileBytesMax)}"\n`],
  ['yaml-too-large', '', '['.repeat(100_000)],
  ['yaml-too-large', '', `a: ${'['.repeat(100)}${']'.repeat(100)}\n`],
  ['yaml-too-large', '', '--- 1\n'.repeat(limits.contractFileDocumentsMax + 1)],
  ['yaml-reads-differently', 'a', 'a: no\n'],
  ['yaml-reads-differently', 'a', 'a: 0777\n'],
  ['text-ill-formed', 'spec.a', 'spec: {a: "\\ud800"}\n'],
  ['text-ill-formed', 'spec', 'spec: {"\\ud800": 1}\n'],
  ['object-shape', '', '[]\n'],
  ['object-shape', 'apiVersion', 'apiVersion: v1\nkind: ActionContract\nmetadata: {name: a}\nspec: {}\n'],
  ['object-unknown-kind', 'kind', 'kind: ActionContrct\n'],
  ['bad-name', 'metadata.name', 'kind: ActionContract\nmetadata: {name: A_b}\n'],
];
for (const [code, path, text] of YAML_ROWS) {
  test(`problem ${code}: found in ${JSON.stringify(text.slice(0, 30))}`, () => {
    const { objects, problems } = readYaml(text, 'file.yaml');
    assert.deepEqual(objects, []);
    expectProblem(problems, code, path);
  });
}

test('problems: two objects of one kind and name are a problem of a set', async () => {
  const { duplicateProblems } = await import('#core/contract/resource-set.ts');
  expectProblem(duplicateProblems([sampleContract(), sampleContract()]), 'object-duplicate', 'metadata.name');
  assert.deepEqual(duplicateProblems([sampleContract(), sampleBinding()]), []);
});

test('binding: a literal address is fine where addresses names it, and a public one by itself', () => {
  const at = (origin: string, addresses?: string[]) =>
    compileBinding(sampleBinding({ 'destinations.0.origin': origin, 'destinations.0.addresses': addresses })).problems;
  assert.deepEqual(at('https://127.0.0.1:8443', ['127.0.0.1/32']), []);
  assert.deepEqual(at('https://10.1.2.3', ['10.0.0.0/8']), []);
  assert.deepEqual(at('https://[fd00::1]:8443', ['fd00::/8']), []);
  assert.deepEqual(at('https://93.184.215.14'), []);
});

test('problems: the sample around all of these rows has none', () => {
  assert.deepEqual(compileObject(sampleContract()).problems, []);
  assert.deepEqual(compileBinding(sampleBinding()).problems, []);
});

after(() => {
  const missing = Object.keys(PROBLEM_CODES).filter((code) => !produced.has(code));
  assert.deepEqual(missing, [], 'codes of the catalogue that no test produces');
});

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Validator } from '@cfworker/json-schema';
import { parse, parseAllDocuments } from 'yaml';
import { INCOMPLETE_REASONS, WARNING_CODES } from '#core/error/reasons.ts';
import { actionContractSpecSchema } from '#core/resource/gen/action-contract-schema.ts';
import { contractPresetSpecSchema } from '#core/resource/gen/contract-preset-schema.ts';
import { credentialBindingSpecSchema } from '#core/resource/gen/credential-binding-schema.ts';
import { CONDITION } from '#core/resource/names.ts';
import { strictSchema } from '#core/resource/strict-schema.ts';

const validators = {
  ActionContract: new Validator(actionContractSpecSchema, '2020-12', false),
  CredentialBinding: new Validator(credentialBindingSpecSchema, '2020-12', false),
  ContractPreset: new Validator(contractPresetSpecSchema, '2020-12', false),
};

const CONTRACT = {
  action: 'list_open_issues',
  summary: 'List open issues of $(args.repository)',
  owner: 'triage-team',
  effect: 'Read',
  callers: [{ serviceAccount: 'triage-bot' }],
  credentials: ['github-triage'],
  arguments: { type: 'object', additionalProperties: false, anything: { goes: [1] } },
  http: { credential: 'github-triage', method: 'GET', url: 'https://api.github.com/user', body: { json: [{ any: 'thing' }] } },
  result: { items: ['/'], fields: [{ name: 'number' }] },
  completeness: {
    signals: [{ name: 's', when: 'true', reason: 'SOURCE_UNAVAILABLE' }],
    consistency: { mode: 'SnapshotKey', equal: [{ body: '/a' }] },
  },
};
const BINDING = {
  owner: 'platform',
  secret: { name: 'postern-github' },
  contracts: ['list-open-issues'],
  destinations: [{ origin: 'https://api.github.com', methods: ['GET'], addresses: ['10.0.0.0/8', 'fd00::/8'] }],
  use: { bearer: { key: 'token' } },
};

type Tree = { [key: string]: unknown };

/** A copy with the value at the path replaced, or removed when it is undefined. */
function changed(source: object, path: string, value: unknown): Tree {
  const copy = structuredClone(source) as Tree;
  const steps = path.split('.');
  const last = steps.pop() ?? '';
  let at = copy;
  for (const step of steps) at = at[step] as Tree;
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}

test('strict schema: a plain contract and a plain binding fit', () => {
  assert.ok(validators.ActionContract.validate(CONTRACT).valid);
  assert.ok(validators.CredentialBinding.validate(BINDING).valid);
});

const broken: readonly (readonly [keyof typeof validators, string, unknown])[] = [
  ['ActionContract', 'sumary', 'x'],
  ['ActionContract', 'http.hearders', {}],
  ['ActionContract', 'http.body.jsonn', {}],
  ['ActionContract', 'http.body', { json: {}, text: 'x' }],
  ['ActionContract', 'http.body', {}],
  ['ActionContract', 'http.body', { json: {}, form: {} }],
  ['ActionContract', 'ssh', { credential: 'a', host: 'h', argv: ['x'], shell: 'Posix' }],
  ['ActionContract', 'http', undefined],
  ['ActionContract', 'owner', undefined],
  ['ActionContract', 'effect', 'read'],
  ['ActionContract', 'callers', []],
  ['ActionContract', 'callers.0.namespace', 'x'],
  ['ActionContract', 'credentials', Array.from({ length: 9 }, (_, index) => `b${index}`)],
  ['ActionContract', 'credentials', ['a', 'a']],
  ['ActionContract', 'result.items', ['no-slash']],
  ['ActionContract', 'result.fields.0.presense', 'Optional'],
  ['ActionContract', 'completeness.signals.0.table', { values: 'x', entries: [], otherwise: 'SOURCE_UNAVAILABLE' }],
  ['ActionContract', 'completeness.signals.0.reason', 'BROKEN'],
  ['ActionContract', 'completeness.consistency.equal', [{ body: '/a', header: 'x' }]],
  ['ActionContract', 'completeness.consistency.equal', [{}]],
  ['ActionContract', 'completeness.consistency.equal', []],
  ['ActionContract', 'completeness.limits', { time: '1m30s' }],
  ['ActionContract', 'completeness.limits', { bytes: '8MB' }],
  ['ActionContract', 'completeness.limits', { pages: 0 }],
  ['ActionContract', 'completeness.limits', { pages: '10' }],
  ['CredentialBinding', 'secret.name', 'github'],
  ['CredentialBinding', 'use', {}],
  ['CredentialBinding', 'use', { bearer: { key: 'a' }, basic: { usernameKey: 'a', passwordKey: 'b' } }],
  ['CredentialBinding', 'use.bearer.value', 's3cr3t'],
  ['CredentialBinding', 'destinations', []],
  ['CredentialBinding', 'destinations.0.origin', 'https://api.github.com/path'],
  ['CredentialBinding', 'destinations.0.origin', 'https://user@api.github.com'],
  ['CredentialBinding', 'destinations.0.origin', 'https://*.github.com'],
  ['CredentialBinding', 'destinations.0.origin', 'https://API.github.com'],
  ['CredentialBinding', 'destinations.0.hostKeys', ['SHA256:short']],
];
for (const [kind, path, value] of broken) {
  test(`strict schema: ${kind} with ${path} = ${JSON.stringify(value)?.slice(0, 60)} does not fit`, () => {
    const source = kind === 'ActionContract' ? CONTRACT : BINDING;
    assert.equal(validators[kind].validate(changed(source, path, value)).valid, false);
  });
}

test('strict schema: an exactly-one rule keeps its names and its message as data', () => {
  const schema = strictSchema({
    root: {
      type: 'object',
      'x-kubernetes-validations': [
        { rule: '[has(self.a), has(self.b)].exists_one(x, x)', message: 'one of a, b' },
        { rule: 'self.a > 1', message: 'm' },
      ],
      properties: {},
    },
    anchors: new Map(),
  });
  assert.deepEqual(schema.allOf, [
    { 'x-postern-exactly-one': { names: ['a', 'b'], message: 'one of a, b' }, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
  ]);
});

test('strict schema: a preset takes no target, no arguments and no rule of another preset', () => {
  const fits = (spec: object) => validators.ContractPreset.validate(spec).valid;
  assert.ok(
    fits({
      base: 'github-v1',
      http: { headers: { accept: 'x' }, query: {} },
      result: { outcomes: [{ name: 'a', when: 'true', is: 'Ok' }] },
    }),
  );
  for (const spec of [
    { action: 'x' },
    { arguments: {} },
    { http: { url: 'https://x' } },
    { http: { method: 'GET' } },
    { completeness: { preset: 'x' } },
    { completeness: { without: [] } },
  ])
    assert.equal(fits(spec), false);
});

const presets = readdirSync('presets').filter((name) => name.endsWith('.yaml'));
for (const name of presets) {
  test(`strict schema: presets/${name} fits`, () => {
    for (const document of parseAllDocuments(readFileSync(`presets/${name}`, 'utf8'))) {
      const { kind, spec } = document.toJS() ?? {};
      if (kind === 'ContractPreset') assert.deepEqual(validators.ContractPreset.validate(spec).errors, []);
    }
  });
}

interface Crd {
  readonly kind: string;
  readonly root: Tree;
}

const crds: readonly Crd[] = readdirSync('crds').map((name) => {
  const crd = parse(readFileSync(`crds/${name}`, 'utf8'), { maxAliasCount: -1 });
  return { kind: crd.spec.names.kind, root: crd.spec.versions[0].schema.openAPIV3Schema };
});

/** Every schema node with its path, children of `properties`, `items` and `additionalProperties`. */
function* nodesOf(node: Tree, path = ''): Generator<readonly [string, Tree]> {
  yield [path, node];
  for (const [name, child] of Object.entries((node.properties ?? {}) as Tree)) yield* nodesOf(child as Tree, `${path}.${name}`);
  if (typeof node.items === 'object') yield* nodesOf(node.items as Tree, `${path}[]`);
  if (typeof node.additionalProperties === 'object') yield* nodesOf(node.additionalProperties as Tree, `${path}{}`);
}

for (const { kind, root } of crds) {
  test(`${kind}: nothing is defaulted by the API server`, () => {
    for (const [path, node] of nodesOf(root)) assert.ok(!('default' in node), path);
  });

  test(`${kind}: every text, list and map has a limit`, () => {
    for (const [path, node] of nodesOf(root)) {
      if (!/^\.(spec|status)/.test(path)) continue;
      const open = node['x-kubernetes-preserve-unknown-fields'] === true;
      if (node.type === 'string' && !node.enum && node.format !== 'date-time') assert.ok('maxLength' in node, path);
      if (node.type === 'array') assert.ok('maxItems' in node, path);
      if (node.type === 'object' && !node.properties && !open) assert.ok('maxProperties' in node, path);
      if (node.type === 'integer') assert.ok(path.startsWith('.status') || ('minimum' in node && 'maximum' in node), path);
    }
  });

  test(`${kind}: every field of spec teaches in a description`, () => {
    for (const [path, node] of nodesOf(root)) {
      if (path.startsWith('.spec') && /\.\w+$/.test(path))
        assert.ok(typeof node.description === 'string' && node.description.length > 3, path);
    }
  });

  test(`${kind}: its conditions are those of names.ts`, () => {
    const status = (root.properties as Tree).status as { properties: { conditions: { description: string } } };
    const words = status.properties.conditions.description.match(/\w+/g);
    assert.deepEqual(words, CONDITION[kind as keyof typeof CONDITION]);
  });
}

test('ActionContract: codes are those of the catalogue', () => {
  const reasons = new Set<string>();
  const warnings = new Set<string>();
  for (const [path, node] of nodesOf(crds.find(({ kind }) => kind === 'ActionContract')?.root ?? {})) {
    if (/\.(reason|otherwise|onFewer|onMore)$/.test(path) && Array.isArray(node.enum)) for (const code of node.enum) reasons.add(code);
    if (path.endsWith('warnings[].code') && Array.isArray(node.enum)) for (const code of node.enum) warnings.add(code);
  }
  assert.deepEqual([...reasons].sort(), [...INCOMPLETE_REASONS].sort());
  assert.deepEqual([...warnings].sort(), [...WARNING_CODES].sort());
});

/**
 * Contracts that attack whoever compiles, approves or runs them. Each keeps the intent of the failure case named, in the contract language,
 * and must be refused for that reason: by code and path, and for nothing else.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileBinding } from '#core/contract/binding.ts';
import { readYaml } from '#core/contract/read-yaml.ts';
import { compileObject, objectOf, sampleBinding } from './sample-objects.ts';

interface HostileCase {
  readonly id: string;
  readonly what: string;
  readonly problems: readonly string[];
  readonly url?: string;
  readonly method?: string;
  readonly headers?: string;
  readonly arguments?: string;
  readonly extra?: string;
}

const ITEM = 'type: object, additionalProperties: false, required: [item]';
const URL_WITH_ITEM = 'https://api.test/v1/boxes/$(args.item)/keys';

const CASES: readonly HostileCase[] = [
  {
    id: 'JSON-14',
    what: 'a pattern that takes exponential time in a backtracking engine',
    arguments: `{${ITEM}, properties: {item: {type: string, pattern: '^(a+)+$', maxLength: 64}}}`,
    problems: ['schema-pattern-nested spec.arguments.properties.item.pattern'],
  },
  {
    id: 'JSON-14',
    what: 'a back-reference',
    arguments: `{${ITEM}, properties: {item: {type: string, pattern: '^(a)\\1$', maxLength: 64}}}`,
    problems: ['schema-pattern spec.arguments.properties.item.pattern'],
  },
  {
    id: 'JSON-15c',
    what: 'a pattern without anchors',
    arguments: `{${ITEM}, properties: {item: {type: string, pattern: '[0-9]+', maxLength: 64}}}`,
    problems: ['schema-pattern-unanchored spec.arguments.properties.item.pattern'],
  },
  {
    id: 'JSON-16',
    what: 'an open object inside of a closed one',
    arguments: `{${ITEM}, properties: {item: {type: string, maxLength: 9}, tags: {type: array, maxItems: 3, items: {type: object, properties: {k: {type: string, maxLength: 9}}}}}}`,
    problems: ['schema-open-object spec.arguments.properties.tags.items'],
  },
  {
    id: 'JSON-17',
    what: 'a combinator that seems to close an object',
    arguments: '{type: object, unevaluatedProperties: false, allOf: [{properties: {item: {type: string, maxLength: 9}}}]}',
    problems: [
      'schema-open-object spec.arguments',
      'schema-unknown-keyword spec.arguments.allOf',
      'schema-unknown-keyword spec.arguments.unevaluatedProperties',
      'slot-unknown-name spec.http.url',
    ],
  },
  {
    id: 'JSON-18',
    what: 'a misspelled bound',
    arguments: `{${ITEM}, properties: {item: {type: string, maxLenght: 9}}}`,
    problems: ['schema-unbounded spec.arguments.properties.item', 'schema-unknown-keyword spec.arguments.properties.item.maxLenght'],
  },
  {
    id: 'JSON-20',
    what: 'a value added after the approval',
    arguments: `{${ITEM}, properties: {item: {type: string, maxLength: 9, default: live}}}`,
    problems: ['schema-unknown-keyword spec.arguments.properties.item.default'],
  },
  {
    id: 'JSON-21',
    what: 'a schema that lies elsewhere',
    arguments: "{$ref: 'https://other.example/s.json'}",
    problems: [
      'schema-not-object spec.arguments',
      'schema-unknown-keyword spec.arguments.$ref',
      'missing-field spec.arguments.type',
      'slot-unknown-name spec.http.url',
    ],
  },
  {
    id: 'JSON-22',
    what: 'quadratic uniqueItems without a bound',
    arguments: `{${ITEM}, properties: {item: {type: string, maxLength: 9}, list: {type: array, uniqueItems: true, items: {type: object, additionalProperties: false, properties: {}}}}}`,
    problems: ['schema-unbounded spec.arguments.properties.list', 'schema-unique-items spec.arguments.properties.list.uniqueItems'],
  },
  {
    id: 'HTTP-25',
    what: 'loopback written as one number',
    url: 'https://2130706433/v1/boxes/$(args.item)',
    problems: ['url-host-not-canonical spec.http.url'],
  },
  { id: 'HTTP-25', what: 'loopback in two parts', url: 'https://127.1/v1', problems: ['url-host-not-canonical spec.http.url'] },
  { id: 'HTTP-25', what: 'loopback in hexadecimal', url: 'https://0x7f.1/v1', problems: ['url-host-not-canonical spec.http.url'] },
  { id: 'HTTP-25', what: 'loopback in octal', url: 'https://0177.0.0.1/v1', problems: ['url-host-not-canonical spec.http.url'] },
  { id: 'HTTP-25b', what: 'a full-width host', url: 'https://\uff41pi.test/v1', problems: ['url-host-not-canonical spec.http.url'] },
  { id: 'HTTP-26', what: 'a trailing dot', url: 'https://api.test./v1', problems: ['url-host-trailing-dot spec.http.url'] },
  { id: 'HTTP-26', what: 'an upper-case host', url: 'https://API.TEST/v1', problems: ['url-host-not-canonical spec.http.url'] },
  { id: 'HTTP-26b', what: 'a zone id', url: 'https://[fe80::1%25eth0]/v1', problems: ['url-host-zone spec.http.url'] },
  { id: 'HTTP-05', what: 'a path the agent writes', url: 'https://api.test/$(args.item)', problems: ['url-whole-path-slot spec.http.url'] },
  {
    id: 'HTTP-05',
    what: 'a path the agent writes, of any length',
    url: 'https://api.test/$(args.item...)',
    problems: ['url-spread spec.http.url', 'url-whole-path-slot spec.http.url'],
  },
  {
    id: 'HTTP-05',
    what: 'more of the path is free than fixed',
    url: 'https://api.test/v1/$(args.item)/$(args.item)',
    problems: ['call-anything spec.http.url'],
  },
  { id: 'HTTP-05', what: 'a host the agent writes', url: 'https://$(args.item)/v1', problems: ['url-host-slot spec.http.url'] },
  {
    id: 'HTTP-06',
    what: 'headers that frame the message',
    method: 'POST',
    extra: 'readOnlyBecause: it reads',
    headers: "{Content-Length: '1', Host: other.example, Transfer-Encoding: chunked, Connection: x}",
    problems: ['Content-Length', 'Host', 'Transfer-Encoding', 'Connection'].map((name) => `header-reserved spec.http.headers.${name}`),
  },
  {
    id: 'HTTP-06b',
    what: 'a line break in a header name',
    headers: '{"X-A\\r\\nX-B": c}',
    problems: ['header-name spec.http.headers["X-A\\r\\nX-B"]'],
  },
  {
    id: 'HTTP-06b',
    what: 'a header name the agent writes',
    headers: '{"$(args.item)": c}',
    problems: ['header-name spec.http.headers["$(args.item)"]'],
  },
  {
    id: 'HTTP-X1',
    what: 'plaintext to a name',
    url: 'http://api.test/v1',
    problems: ['binding-destination spec.http.url', 'url-plaintext spec.http.url'],
  },
  {
    id: 'HTTP-X1',
    what: 'plaintext to an address no binding opted in for',
    url: 'http://9.9.9.9:8080/v1',
    problems: ['binding-destination spec.http.url'],
  },
  { id: 'HTTP-X2', what: 'a password in the URL', url: 'https://user:pw@api.test/v1', problems: ['url-userinfo spec.http.url'] },
  { id: 'HTTP-X3', what: 'a method the agent writes', method: '$(args.item)', problems: ['method-fixed spec.http.method'] },
];

function contractOf({ url = URL_WITH_ITEM, method = 'GET', headers, arguments: schema, extra }: HostileCase): string {
  const items = `{${ITEM}, properties: {item: {type: string, maxLength: 99}}}`;
  return `
action: read_box
summary: Read a box
owner: box-team
effect: Read
${extra ?? ''}
callers: [{serviceAccount: bot}]
credentials: [api-reader]
arguments: ${schema ?? items}
http: {credential: api-reader, method: ${JSON.stringify(method)}, url: ${JSON.stringify(url)}${headers === undefined ? '' : `, headers: ${headers}`}}
result: {object: /, fields: [{name: id}]}
`;
}

const hosts = ['https://api.test'];
const binding = sampleBinding({ contracts: ['read-box'], destinations: hosts.map((origin) => ({ origin })) });

for (const hostile of CASES) {
  test(`${hostile.id}: ${hostile.what} is refused`, () => {
    const contract = objectOf('ActionContract', 'read-box', contractOf(hostile));
    const result = compileObject(contract, { bindings: [binding] });
    assert.equal(result.contract, undefined);
    const found = result.problems.map(({ code, path }) => `${code} ${path}`).toSorted();
    assert.deepEqual(found, [...hostile.problems].toSorted());
  });
}

test('HTTP-25: the problem shows the canonical form and that it is loopback', () => {
  const contract = objectOf('ActionContract', 'read-box', contractOf({ id: '', what: '', problems: [], url: 'https://2130706433/v1' }));
  const [problem] = compileObject(contract, { bindings: [binding] }).problems;
  assert.match(problem?.message ?? '', /not in canonical form \(127\.0\.0\.1\) and is loopback/);
});

test('hostile contracts: the contract they are made from compiles', () => {
  const contract = objectOf('ActionContract', 'read-box', contractOf({ id: '', what: '', problems: [] }));
  assert.deepEqual(compileObject(contract, { bindings: [binding] }).problems, []);
});

test('SSH-05: weak algorithms have no field to be named in', () => {
  const spec = contractOf({ id: '', what: '', problems: [], extra: 'readOnlyBecause: it reads' }).replace(
    /^http:.*$/m,
    'ssh: {credential: api-reader, host: h.test, argv: [status], shell: Posix, algorithms: {kex: [diffie-hellman-group1-sha1]}}',
  );
  const { problems } = compileObject(objectOf('ActionContract', 'read-box', spec), { bindings: [] });
  assert.deepEqual(
    problems.filter(({ severity }) => severity === 'error').map(({ code, path }) => [code, path]),
    [['unknown-field', 'spec.ssh.algorithms']],
  );
});

test('SSH-01: an SSH destination without a pinned key is refused', () => {
  const ssh = sampleBinding({ 'destinations.0': { origin: 'ssh://h.test:22' }, use: { sshKey: { user: 'u', privateKeyKey: 'k' } } });
  assert.deepEqual(
    compileBinding(ssh).problems.map(({ code, path }) => [code, path]),
    [['binding-host-keys', 'spec.destinations[0].hostKeys']],
  );
});

test('JSON-24: an alias that contains itself is refused by the reader, and nothing is expanded', () => {
  const { objects, problems } = readYaml(
    'apiVersion: postern.dev/v1alpha1\nkind: ActionContract\nmetadata: {name: t}\nspec:\n  arguments: &a {type: object, properties: {x: *a}}\n',
    'f.yaml',
  );
  assert.deepEqual(objects, []);
  assert.deepEqual(
    problems.map(({ code, path, object }) => [code, path, object.line]),
    [
      ['yaml-anchor', 'spec.arguments', 5],
      ['yaml-anchor', 'spec.arguments.properties.x', 5],
    ],
  );
});

test('JSON-24: an alias bomb is refused without being expanded', () => {
  const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 30; level += 1)
    bomb.push(`a${level}: &a${level} [${Array.from({ length: 9 }, () => `*a${level - 1}`).join(', ')}]`);
  const { objects, problems } = readYaml(bomb.join('\n'), 'f.yaml');
  assert.deepEqual(objects, []);
  assert.ok(problems.every(({ code }) => code === 'yaml-anchor'));
});

test('JSON-24: a YAML 1.1 boolean stays the text it is, and is shown', () => {
  const text = 'apiVersion: postern.dev/v1alpha1\nkind: ActionContract\nmetadata: {name: t}\nspec:\n  environment: no\n';
  const { objects, problems } = readYaml(text, 'f.yaml');
  assert.equal(objects[0]?.spec.environment, 'no');
  assert.deepEqual(
    problems.map(({ code, path, severity, object }) => [code, path, severity, object.line]),
    [['yaml-reads-differently', 'spec.environment', 'warning', 5]],
  );
});

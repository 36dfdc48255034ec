import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assemble } from '#core/contract/assemble.ts';
import { compileArgumentsSchema } from '#core/contract/compile-schema.ts';
import type { BodyTemplate, CompiledContract, JsonValue, RequestTemplate, Slot } from '#core/contract/compiled.ts';
import type { CompiledBinding } from '#core/contract/compiled-binding.ts';
import { type Encoders, strictEncoders } from '#core/contract/encode.ts';
import { Report } from '#core/contract/report.ts';
import { SpecNode } from '#core/contract/spec-node.ts';
import { composedJson, composedText, repeatedTexts } from '#core/contract/template-text.ts';
import { type EscapeReport, escapeContract } from '#sidecar/contract-test/escape.ts';

const ORIGIN = 'https://api.example.test';

function slot(path: string): Slot {
  const [root = 'args', ...rest] = path.split('.');
  return { root: root as Slot['root'], path: rest, text: `$(${path})` };
}

const FREE = { type: 'string', minLength: 1, maxLength: 300, 'x-postern-text': { render: 'plain', lines: 5 } };

const REQUEST: RequestTemplate = {
  method: 'POST',
  origin: ORIGIN,
  segments: [['v1'], [slot('args.id')], ['notes']],
  query: [
    ['q', [slot('args.words')]],
    ['label', [slot('args.labels')]],
    ['after', [slot('next.after')]],
  ],
  headers: [
    ['accept', ['application/json']],
    ['x-topic', [slot('args.topic')]],
  ],
};

const JSON_BODY: BodyTemplate = {
  kind: 'json',
  contentType: 'application/json',
  json: {
    kind: 'object',
    members: [
      ['fixed', { kind: 'literal', value: { a: [1] } }],
      ['note', { kind: 'slot', slot: slot('args.note') }],
      ['list', { kind: 'list', items: [{ kind: 'slot', slot: slot('args.words') }] }],
    ],
  },
};

const FORM_BODY: BodyTemplate = {
  kind: 'form',
  contentType: 'application/x-www-form-urlencoded',
  fields: [
    ['fixed', ['1']],
    ['note', [slot('args.note')]],
  ],
};

/** Only what an escape run reads; no compile step may stand between the test and the request. */
function contractOf(body: BodyTemplate): CompiledContract {
  const properties = {
    id: { type: 'string', maxLength: 300 },
    words: FREE,
    labels: { type: 'array', minItems: 0, maxItems: 3, items: { type: 'string', maxLength: 200 } },
    topic: { type: 'string', maxLength: 200 },
    note: FREE,
  };
  const schema: JsonValue = { type: 'object', additionalProperties: false, required: ['id', 'note'], properties };
  const report = new Report((path) => ({ kind: 'ActionContract', name: 'notes', path }));
  const compiled = compileArgumentsSchema(new SpecNode(schema, ['spec', 'arguments'], report));
  assert.deepEqual(report.problems, []);
  const contract: Partial<CompiledContract> = {
    name: 'notes',
    arguments: compiled,
    resolve: {},
    constants: {},
    target: { kind: 'http', credential: ['notes'], request: { ...REQUEST, body } },
    completeness: { limits: { pages: 1, items: 1, bytes: 1000, timeMs: 1000, parallel: 1 } } as CompiledContract['completeness'],
    effects: { approval: { mode: 'None', expiresAfterMs: 900_000, vary: [] }, idempotency: { mode: 'None' } },
  };
  return contract as CompiledContract;
}

function fire(body: BodyTemplate, encoders: Partial<Encoders> = {}, checked = true): Promise<EscapeReport> {
  const all = { ...strictEncoders, ...encoders };
  const sound: typeof assemble = (template, values) => assemble(template, values, { encoders: all });
  const spec: CompiledBinding['spec'] = {
    owner: 'a',
    secret: { name: 'postern-notes' },
    contracts: ['notes'],
    destinations: [{ origin: ORIGIN }],
    use: { bearer: { key: 'token' } },
  };
  return escapeContract({
    contract: contractOf(body),
    bindings: [{ name: 'notes', namespace: 'default', spec }],
    runs: 60,
    seed: 7,
    assemble: checked ? sound : (template, values) => joined(template, values, all),
    // The real one takes nothing that the real assembler did not make.
    ...(checked ? {} : { attach: (request) => ({ ...request, headers: [...request.headers, ['authorization', 'Bearer x'] as const] }) }),
  });
}

/** An assembler that believes its encoders: what is left when the comparison is taken out. */
const joined = (template: RequestTemplate, values: Parameters<typeof assemble>[1], encoders: Encoders): ReturnType<typeof assemble> => {
  const pairs = (templates: RequestTemplate['query'], encode: Encoders['query']) =>
    templates.flatMap(([name, value]) => repeatedTexts(value, values).map((text) => `${name}=${encode(text)}`)).join('&');
  const path = template.segments.map((segment) =>
    typeof segment[0] === 'string' ? segment[0] : encoders.segment(composedText(segment, values) ?? ''),
  );
  const headers = template.headers.flatMap(([name, value]) => {
    const text = composedText(value, values);
    return text === undefined ? [] : [[name, String(encoders.header(text))] as const];
  });
  const { body } = template;
  const content =
    body?.kind === 'json'
      ? encoders.json(composedJson(body.json, values) ?? null)
      : body?.kind === 'form'
        ? pairs(body.fields, encoders.form)
        : '';
  const outbound = {
    method: template.method,
    origin: template.origin,
    target: `/${path.join('/')}?${pairs(template.query, encoders.query)}`,
    headers: [...headers, ['content-type', body?.contentType ?? ''] as const],
    body: new TextEncoder().encode(content),
  };
  return { outbound, sent: { method: template.method, path: '', query: {}, headers: {}, body: null } };
};

function placesOf(report: EscapeReport): ReadonlySet<string> {
  return new Set(report.findings.flatMap(({ escapes }) => escapes.map(({ where }) => where)));
}

for (const [name, body] of [
  ['JSON', JSON_BODY],
  ['form', FORM_BODY],
] as const) {
  test(`escape: the real encoders let nothing out of a request with a ${name} body`, async () => {
    const report = await fire(body);
    assert.deepEqual(report.findings, []);
    assert.deepEqual(report.unreached, []);
    assert.ok(report.contained > 200, `${report.contained} were sent`);
    assert.ok(report.fired > report.contained);
    assert.deepEqual(report.slots, ['args.id', 'args.words', 'args.labels.0', 'args.topic', 'args.note', 'next.after']);
  });
}

test('escape: an encoder that leaves path values as they are is found on the wire', async () => {
  const report = await fire(JSON_BODY, { segment: (text) => text }, false);
  const found = report.findings.filter(({ slot: at }) => at === 'args.id');
  assert.ok(found.some(({ value, escapes }) => String(value).includes('/') && escapes.some(({ where }) => where === 'path')));
  assert.ok(found.some(({ seen }) => seen.startsWith('POST /v1/')));
});

test('escape: encodeURIComponent in a path is found: it leaves dot segments alone', async () => {
  const report = await fire(JSON_BODY, { segment: encodeURIComponent }, false);
  assert.ok(report.findings.some(({ slot: at, value }) => at === 'args.id' && value === '..'));
});

test('escape: an encoder that leaves query values as they are is found on the wire', async () => {
  const report = await fire(JSON_BODY, { query: (text) => text }, false);
  assert.ok(
    report.findings.some(
      ({ slot: at, value, escapes }) => at === 'args.words' && String(value).includes('&') && escapes[0]?.where === 'query',
    ),
  );
});

test('escape: an encoder that writes a space as plus and a plus as itself is found', async () => {
  const report = await fire(JSON_BODY, { query: (text) => encodeURIComponent(text).replaceAll('%20', '+').replaceAll('%2B', '+') }, false);
  assert.ok(report.findings.some(({ value }) => String(value).includes('+')));
});

test('escape: a header encoder that repairs a value instead of refusing it is found on the wire', async () => {
  const report = await fire(JSON_BODY, { header: (text) => text.replace(/[^ -~]/g, '') });
  assert.ok(placesOf(report).has('headers.x-topic'));
});

test('escape: a header encoder that writes UTF-8 bytes is found, whoever stops it', async () => {
  const report = await fire(JSON_BODY, { header: (text) => text }, false);
  assert.ok(report.findings.some(({ slot: at }) => at === 'args.topic'));
});

test('escape: an encoder that leaves form values as they are is found on the wire', async () => {
  const report = await fire(FORM_BODY, { form: (text) => text }, false);
  assert.ok(report.findings.some(({ slot: at, escapes }) => at === 'args.note' && escapes.some(({ where }) => where.startsWith('body'))));
});

test('escape: JSON glued together by hand is found on the wire', async () => {
  const glued: Encoders['json'] = (value) => JSON.stringify(value).replaceAll('\\"', '"');
  const report = await fire(JSON_BODY, { json: glued });
  assert.ok(report.findings.some(({ slot: at, escapes }) => at === 'args.note' && escapes.some(({ where }) => where === 'body')));
});

test('escape: JSON that keeps its structure but loses a character is found', async () => {
  const report = await fire(JSON_BODY, { json: (value) => JSON.stringify(value).replaceAll('\\n', ' ') });
  assert.ok(report.findings.some(({ escapes }) => escapes.some(({ where }) => where === 'body/note')));
});

test('escape: with the comparison in place a bad encoder is still reported, and nothing is sent', async () => {
  const report = await fire(JSON_BODY, { query: (text) => text });
  const found = report.findings.find(({ escapes }) => escapes.some(({ where }) => where === 'assembler'));
  assert.equal(found?.seen, '');
});

test('escape: the same seed fires the same inputs', async () => {
  const [first, second] = [await fire(FORM_BODY), await fire(FORM_BODY)];
  assert.deepEqual(first, second);
});

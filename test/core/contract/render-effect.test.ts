import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { assemble } from '#core/contract/assemble.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import { effectValues, elementsOf, type RenderedHttp, renderEffect } from '#core/contract/render-effect.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { type Changes, compiledSample } from './sample-objects.ts';

const OPERATION = 'op_abcdefghijklmnopqrstuvwxyz';
const ARGS = { shop: 'north', day: '2026-01-02', code: 'abc' };

const WRITE: Changes = {
  effect: 'Write',
  'http.method': 'POST',
  'http.query': { day: '$(args.day)' },
  'http.body': { json: { code: '$(args.code)', note: '$(args.note)', options: {} } },
  result: { object: '/', fields: [{ name: 'id' }] },
  completeness: {},
  warnings: [],
  approval: { mode: 'EachCall' },
};
const TAGS: Changes = {
  'arguments.properties.tags': { type: 'array', minItems: 1, maxItems: 100, uniqueItems: true, items: { type: 'string', maxLength: 40 } },
  'arguments.required.3': 'tags',
};
const EACH: Changes = {
  ...WRITE,
  ...TAGS,
  'http.url': 'https://api.example.com/v1/shops/$(resolve.shop.id)/things/$(each)',
  forEach: { argument: '/tags', order: 'Sequential', onFailure: 'Stop' },
};

function http(contract: CompiledContract, args: Parameters<typeof renderEffect>[0]['args'] = ARGS): RenderedHttp {
  const [request, ...others] = renderEffect({ contract, args, operationId: OPERATION });
  assert.ok(request?.kind === 'http' && others.length === 0);
  return request;
}

test('render effect: a request is shown as it is sent, with the credential named and not there', () => {
  const { body, ...request } = http(compiledSample(WRITE));
  assert.deepEqual(request, {
    kind: 'http',
    key: OPERATION,
    credential: 'api-reader',
    method: 'POST',
    origin: 'https://api.example.com',
    target: '/v1/shops/n1/things?day=2026-01-02',
    headers: [
      ['accept', 'application/json'],
      ['content-type', 'application/json'],
    ],
  });
  assert.equal(body?.text, '{"code":"abc","options":{}}');
});

test('render effect: the key stands where the contract says, and is the id of the operation', () => {
  const key = (place: Changes) => http(compiledSample({ ...WRITE, idempotency: { mode: 'Key', ttl: '24h', ...place } }));
  assert.deepEqual(key({ header: 'Idempotency-Key' }).headers[1], ['idempotency-key', OPERATION]);
  assert.match(key({ body: '/options/request_id' }).body?.text ?? '', new RegExp(`"options":\\{"request_id":"${OPERATION}"\\}`));
  const form = compiledSample({
    ...WRITE,
    'http.body': { form: { code: '$(args.code)' } },
    idempotency: { mode: 'Key', ttl: '24h', form: 'request_id' },
  });
  assert.equal(http(form).body?.text, `code=abc&request_id=${OPERATION}`);
});

test('render effect: forEach gives one request an element, in order, each with a key of its own', () => {
  const contract = compiledSample({ ...EACH, idempotency: { mode: 'Key', ttl: '24h', header: 'idempotency-key' } });
  const requests = renderEffect({ contract, args: { ...ARGS, tags: ['b', 'a'] }, operationId: OPERATION });
  assert.deepEqual(
    requests.map(
      (request) => request.kind === 'http' && [request.target, request.headers.find(([name]) => name === 'idempotency-key')?.[1]],
    ),
    [
      ['/v1/shops/n1/things/b?day=2026-01-02', `${OPERATION}-0`],
      ['/v1/shops/n1/things/a?day=2026-01-02', `${OPERATION}-1`],
    ],
  );
  assert.deepEqual(
    requests.map(({ key }) => key),
    [`${OPERATION}-0`, `${OPERATION}-1`],
  );
});

test('render effect: a value that does not fit its place is found before anybody is asked (APR-02)', () => {
  const contract = compiledSample(EACH);
  for (const tags of [['ok', '..'], ['a/b'], ['']]) {
    assert.throws(
      () => renderEffect({ contract, args: { ...ARGS, tags }, operationId: OPERATION }),
      (error) => error instanceof PosternError && error.reason === 'INVALID_ARGUMENT',
      JSON.stringify(tags),
    );
  }
  assert.throws(
    () => renderEffect({ contract, args: { ...ARGS, tags: [] }, operationId: OPERATION }),
    (error) => error instanceof PosternError && error.fields?.[0]?.path === '/tags',
  );
});

test('render effect: a command is shown as words and as the line its shell reads', () => {
  const contract = compiledSample(
    {
      ...WRITE,
      http: undefined,
      ssh: { credential: 'api-reader', host: '$(resolve.shop.host)', argv: ['systemctl', 'restart', '--', '$(args.code)'], shell: 'Posix' },
    },
    { bindings: [] },
  );
  assert.deepEqual(renderEffect({ contract, args: ARGS, operationId: OPERATION }), [
    {
      kind: 'ssh',
      key: OPERATION,
      credential: 'api-reader',
      origin: 'ssh://a.example.com:22',
      argv: ['systemctl', 'restart', '--', 'abc'],
      line: "'systemctl' 'restart' '--' 'abc'",
    },
  ]);
});

test('render effect: what is shown is what assembling sends, whatever the arguments are', () => {
  const contract = compiledSample({ ...EACH, idempotency: { mode: 'Key', ttl: '24h', body: '/options/key' } });
  const text = fc.string({ maxLength: 20, unit: 'grapheme' });
  fc.assert(
    fc.property(fc.uniqueArray(text, { minLength: 1, maxLength: 5 }), fc.constantFrom('north', 'south'), text, (tags, shop, note) => {
      const call = { contract, args: { ...ARGS, shop, tags, note }, operationId: OPERATION };
      const elements = elementsOf(contract, call.args) ?? [];
      assert.ok(contract.target.kind === 'http');
      const { request } = contract.target;
      let shown: ReturnType<typeof renderEffect>;
      try {
        shown = renderEffect(call);
      } catch (error) {
        assert.ok(error instanceof PosternError && error.reason === 'INVALID_ARGUMENT');
        assert.throws(() => elements.forEach((element) => void assemble(request, effectValues(call, element))));
        return;
      }
      assert.equal(shown.length, tags.length);
      for (const [index, element] of elements.entries()) {
        const { outbound } = assemble(request, effectValues(call, element));
        const rendered = shown[index];
        assert.ok(rendered?.kind === 'http');
        assert.equal(rendered.origin + rendered.target, outbound.origin + outbound.target);
        assert.equal(rendered.body?.text, Buffer.from(outbound.body ?? []).toString());
      }
    }),
    { numRuns: 300 },
  );
});

test('render effect: a request whose key is missing is never sent', () => {
  const contract = compiledSample({ ...WRITE, idempotency: { mode: 'Key', ttl: '24h', header: 'idempotency-key' } });
  assert.ok(contract.target.kind === 'http');
  const { request } = contract.target;
  const values = effectValues({ contract, args: ARGS, operationId: OPERATION }, undefined);
  assert.throws(
    () => assemble(request, { ...values, operation: { id: OPERATION } }),
    (error) => error instanceof PosternError && error.reason === 'INTERNAL',
  );
});

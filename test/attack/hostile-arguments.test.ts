/**
 * Goal: the hostile arguments of the corpus reach no upstream, or arrive as the one value they are. Method: bytes as they are over
 * real gRPC, and the request line as the upstream saw it.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FieldViolation } from '#core/error/postern-error.ts';
import { type HostileStage, json, startHostileStage } from './hostile-stage.ts';

let stage: HostileStage;
before(async () => {
  stage = await startHostileStage();
});
after(() => stage[Symbol.asyncDispose]());

const ship = (fields: string) => `{"component":"api","build":"7",${fields}}`;

/** Refused: the rule that says why. */
const REFUSED: readonly (readonly [id: string, action: string, raw: string | Buffer, rule: string])[] = [
  ['JSON-04', 'count', '{"id":9007199254740993}', 'unsafe_integer'],
  ['JSON-04b', 'count', '{"id":-9007199254740993}', 'unsafe_integer'],
  ['JSON-07', 'ship', `{"note":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, 'too_deep'],
  ['JSON-08b', 'count', '{"id":NaN}', 'syntax'],
  ['JSON-08c', 'ship', `${ship('"zone":"lab","note":"n"')} {"zone":"live"}`, 'trailing_data'],
  ['JSON-08d', 'ship', '[]', 'not_an_object'],
  ['JSON-09', 'ship', ship('"zone":"lab","note":"\\ud800"'), 'lone_surrogate'],
  [
    'JSON-25',
    'ship',
    Buffer.from('eyJjb21wb25lbnQiOiJhcGkiLCJ6b25lIjoibGFiIiwiYnVpbGQiOiI3Iiwibm90ZSI6Iv/+In0=', 'base64'),
    'invalid_utf8',
  ],
  ['JSON-26', 'ship', ship('"zone":"live ","note":"n"'), 'enum'],
  ['JSON-26c', 'ship', ship('"zone":"LIVE","note":"n"'), 'enum'],
  ['JSON-11', 'get_item', '{"item":"cafe\\u0301"}', 'not_nfc'],
  ['JSON-15', 'ship', '{"component":"api","zone":"lab","build":"7\\n","note":"n"}', 'control_character'],
  ['HTTP-27.00', 'get_item', '{"item": ".."}', 'dot_segment'],
  ['HTTP-27.01', 'get_item', '{"item": "."}', 'dot_segment'],
  ['HTTP-28.02', 'get_item', '{"item": "%2e%2e"}', 'percent'],
  ['HTTP-28.04', 'get_item', '{"item": "..%2f..%2fadmin"}', 'percent'],
  ['HTTP-28.05', 'get_item', '{"item": "a/../b"}', 'separator'],
  ['HTTP-28.06', 'get_item', '{"item": "a\\\\..\\\\b"}', 'separator'],
  ['HTTP-28.07', 'get_item', '{"item": "..;"}', 'dot_segment'],
  ['HTTP-28.11', 'get_item', '{"item": "x\\r\\nX-A: b"}', 'control_character'],
  ['HTTP-28.12', 'get_item', '{"item": "x\\u0000y"}', 'control_character'],
  ['HTTP-28.15', 'get_item', '{"item": "//other.example/x"}', 'separator'],
  ['HTTP-28.16', 'get_item', '{"item": "http://other.example/x"}', 'separator'],
  ['HTTP-28.19', 'get_item', `{"item": "${'a'.repeat(3000)}"}`, 'too_long'],
  ['HTTP-30.04', 'find', '{"q": "a\\u0000b"}', 'control_character'],
  ['HTTP-30.05', 'find', '{"q": "a\\r\\nHost: other.example"}', 'control_character'],
  ['HTTP-30.06', 'find', '{"q": "\\u202egpj.exe"}', 'invisible_character'],
  // beyond the corpus
  ['JSON-01', 'ship', ship('"zone":"lab","zone":"live","note":"n"'), 'duplicate_key'],
  ['JSON-02', 'ship', ship('"zone":"lab","\\u007aone":"live","note":"n"'), 'duplicate_key'],
  ['JSON-03', 'find', '{"q":"x","__proto__":{"q":"y"}}', 'forbidden_key'],
  ['JSON-03', 'find', '{"q":"x","constructor":{"prototype":{}}}', 'unknown_argument'],
  ['JSON-03', 'find', '{"q":"x","toString":1,"hasOwnProperty":1,"valueOf":1}', 'unknown_argument'],
  ['JSON-03', 'find', '{"constructor":"x"}', 'unknown_argument'],
  ['JSON-10', 'ship', ship('"zone":"l\\u0430b","note":"n"'), 'enum'],
  ['JSON-10', 'ship', ship('"zone":"\\uff4cab","note":"n"'), 'enum'],
  ['JSON-12', 'ship', ship('"zone":"lab\\u200b","note":"n"'), 'invisible_character'],
  ['JSON-13', 'ship', ship(`"zone":"lab","note":"${'\ud83d\ude00'.repeat(201)}"`), 'too_long'],
  ['JSON-20', 'count', '{"id":"7"}', 'wrong_type'],
  ['JSON-20', 'count', '{"id":7.5}', 'not_an_integer'],
  ['JSON-20', 'count', '{"id":null}', 'wrong_type'],
  ['JSON-20', 'find', '{"q":["x"]}', 'wrong_type'],
  ['JSON-20', 'find', '{"q":true}', 'wrong_type'],
  ['HTTP-28', 'get_item', '{"item": "\uff0e\uff0e\uff0fadmin"}', 'separator'],
  ['HTTP-28', 'get_item', '{"item": "\uff0e\uff0e"}', 'dot_segment'],
  ['HTTP-28', 'get_item', '{"item": "a\uff3cb"}', 'separator'],
  ['HTTP-28', 'get_item', '{"item": "\uff052e"}', 'percent'],
  ['HTTP-28', 'get_item', '{"item": "\u2025"}', 'dot_segment'],
];
for (const [id, action, raw, rule] of REFUSED) {
  const shown = raw.toString().slice(0, 60);
  test(`${id}: ${JSON.stringify(shown)} to ${action} is INVALID_ARGUMENT (${rule}), and nothing is sent`, async () => {
    stage.play((socket) => socket.write(json('{}')));
    const error = await stage.refused(action, undefined, { raw: Buffer.from(raw) });
    assert.equal(error.reason, 'INVALID_ARGUMENT', error.message);
    const rules = error.fields.map((field: FieldViolation) => field.rule);
    assert.ok(rules.includes(rule), rules.join(', '));
    assert.equal(stage.server.requests.length, 0);
  });
}

const LEGAL: readonly (readonly [id: string, action: string, raw: string, line: string])[] = [
  ['HTTP-28.08', 'get_item', '{"item": "x?admin=1"}', '/v1/boxes/x%3Fadmin%3D1/keys'],
  ['HTTP-28.09', 'get_item', '{"item": "x#y"}', '/v1/boxes/x%23y/keys'],
  ['HTTP-30.00', 'find', '{"q": "a&admin=true"}', '/v1/find?q=a%26admin%3Dtrue'],
  ['HTTP-30.01', 'find', '{"q": "a=b;c"}', '/v1/find?q=a%3Db%3Bc'],
  ['HTTP-30.02', 'find', '{"q": "a+b"}', '/v1/find?q=a%2Bb'],
  ['HTTP-30.03', 'find', '{"q": "a%26b"}', '/v1/find?q=a%2526b'],
  ['JSON-06', 'count', '{"id":-0}', '/v1/count/0'],
  ['JSON-06', 'count', '{"id":1e2}', '/v1/count/100'],
  ['JSON-06', 'count', '{"id":9007199254740991}', '/v1/count/9007199254740991'],
];
for (const [id, action, raw, target] of LEGAL) {
  test(`${id}: ${raw} to ${action} arrives as one encoded value`, async () => {
    stage.play((socket) => socket.write(json('{}')));
    await stage.call(action, undefined, { raw: Buffer.from(raw) });
    assert.equal(stage.server.requests[0]?.split('\r\n')[0], `GET ${target} HTTP/1.1`);
  });
}

test('JSON-07: 200,000 brackets are refused before they are an argument at all', async () => {
  const error = await stage.refused('ship', undefined, { raw: Buffer.from(`{"note":${'['.repeat(200_000)}`) });
  assert.ok(['LIMIT_EXCEEDED', 'INVALID_ARGUMENT'].includes(error.reason), error.reason);
  assert.equal((await stage.client.listActions({})).actions.length, 5);
});

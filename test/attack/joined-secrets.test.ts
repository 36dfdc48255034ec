/**
 * Goal: decoding puts a credential together that stood nowhere in the bytes, or it hides where nobody looks: names of members,
 * attributes, headers. Method: the real mask and the real decoders on bodies made for it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResultRules } from '#core/contract/compiled.ts';
import { CredentialMask } from '#sidecar/credential/mask.ts';
import { decodeReply } from '#sidecar/decode/decode-reply.ts';

const CANARY = 'SYN/secret+value=42~';
const mask = new CredentialMask({ values: [CANARY], attached: [`Bearer ${CANARY}`] }).forAnyone();
const HALVES = ['SYN/secret', '+value=42~'] as const;

function decoded(decoder: ResultRules['decoder'], type: string, body: string, header = 'x-a: b') {
  const rules: ResultRules = {
    decoder,
    contentTypes: [type],
    outcomes: [],
    shape: { kind: 'object', path: { text: '/', steps: [] } },
    absentItems: 'Error',
    as: 'it',
    id: [],
    fields: 'All',
  };
  const [name = '', value = ''] = header.split(': ');
  const headers = [['content-type', type] as const, [name, value] as const];
  return decodeReply({ status: 200, headers, body: Buffer.from(body) }, rules, mask, 0);
}

const [a, b] = HALVES;
const BODIES: readonly (readonly [what: string, decoder: ResultRules['decoder'], type: string, body: string])[] = [
  ['a comment between two halves', 'XML', 'application/xml', `<r><v>${a}<!-- x -->${b}</v></r>`],
  ['sections between two halves', 'XML', 'application/xml', `<r><v><![CDATA[${a}]]><![CDATA[${b}]]></v></r>`],
  ['white space before the document', 'XML', 'application/xml', `\n\t <r><v>${a}<![CDATA[${b}]]></v></r>`],
  ['a byte order mark before the document', 'XML', 'application/xml', `\ufeff<r><v>${a}<![CDATA[${b}]]></v></r>`],
  ['an instruction before the document', 'XML', 'application/xml', `<?xml version="1.0"?>\n<r><v>${a}<?x y?>${b}</v></r>`],
  ['an attribute with references', 'XML', 'application/xml', `<r v="SYN&#x2F;secret&#43;value&#61;42~"/>`],
  ['the name of a member', 'JSON', 'application/json', `{"${CANARY}":1}`],
  ['the name of a member, escaped', 'JSON', 'application/json', `{"SYN\\/secret\\u002bvalue=42~":1}`],
  ['an escape behind an escape', 'JSON', 'application/json', `{"v":"SYN\\u005cu002fsecret\\u005cu002bvalue=42~"}`],
  ['a later record', 'NDJSON', 'application/x-ndjson', `{"v":1}\n{"v":"SYN\\u002fsecret+value=42~"}\n`],
  ['a line', 'Lines', 'text/plain', `x\n${CANARY}\n`],
];
for (const [what, decoder, type, body] of BODIES) {
  test(`joined secrets: ${what} is masked and reported`, () => {
    const reply = decoded(decoder, type, body);
    assert.notEqual(reply.body, undefined);
    assert.doesNotMatch(JSON.stringify(reply), /SYN\/secret\+value|secret\\\\u002b/);
    assert.match(JSON.stringify(reply.body), /\[masked\]/);
    assert.equal(reply.reflected, true);
  });
}

test('joined secrets: values and names of headers are masked', () => {
  for (const header of [`x-echo: Bearer ${CANARY}`, `x-echo: ${encodeURIComponent(CANARY)}`, `${encodeURIComponent(CANARY)}: x`]) {
    const reply = decoded('JSON', 'application/json', '{}', header);
    assert.equal(reply.reflected, true, header);
    assert.doesNotMatch(JSON.stringify(reply.headers), /SYN/);
  }
});

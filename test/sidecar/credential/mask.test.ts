/**
 * Credentials reflected by a remote, in every form and place we know, and the question whether masking tells a guesser anything.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CredentialMask, MASKED } from '#sidecar/credential/mask.ts';

const CANARY = 'SYN/secret+value=42~';
const mask = new CredentialMask({ values: [CANARY], attached: [`Bearer ${CANARY}`] });
const anyone = mask.forAnyone();
const bytes = (text: string) => Buffer.from(anyone.bytes(Buffer.from(text))).toString();

const base64 = (text: string) => Buffer.from(text).toString('base64');
const percent = (text: string) => encodeURIComponent(text);
const everyByte = (text: string, write: (byte: string) => string) =>
  [...Buffer.from(text).toString('hex').matchAll(/../g)].map(([hex]) => write(hex)).join('');

/** Every form of failure-cases.md LEAK-05, as functions of the value. */
const forms: Readonly<Record<string, (value: string) => string>> = {
  raw: (value) => value,
  b64: base64,
  b64url: (value) => Buffer.from(value).toString('base64url'),
  b64_off1: (value) => base64(`x${value}yy`),
  b64_off2: (value) => base64(`xx${value}y`),
  b64url_off1: (value) => Buffer.from(`x${value}yy`).toString('base64url'),
  basic: (value) => base64(`user:${value}`),
  hex: (value) => Buffer.from(value).toString('hex'),
  HEX: (value) => Buffer.from(value).toString('hex').toUpperCase(),
  percent,
  percent_lower: (value) => percent(value).replace(/%../g, (written) => written.toLowerCase()),
  percent_every_byte: (value) => everyByte(value, (hex) => `%${hex}`),
  percent_twice: (value) => percent(percent(value)),
  form: (value) => new URLSearchParams({ v: value }).toString().slice(2),
  json_u: (value) =>
    JSON.stringify(value)
      .slice(1, -1)
      .replace(/[/+=]/g, (mark) => `\\u00${mark.charCodeAt(0).toString(16)}`),
  json_slash: (value) => JSON.stringify(value).slice(1, -1).replaceAll('/', '\\/'),
  json_of_percent: (value) => percent(value).replaceAll('%', '\\u0025'),
  base64_in_json: (value) => base64(value).replaceAll('/', '\\/'),
  html_named: (value) =>
    value
      .replace(/[&<>"']/g, (mark) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[mark]!)
      .replaceAll('/', '&sol;'),
  html_decimal: (value) => [...value].map((char) => `&#${char.codePointAt(0)};`).join(''),
  html_hex: (value) => [...value].map((char) => `&#x${char.codePointAt(0)!.toString(16)};`).join(''),
  javascript_x: (value) => everyByte(value, (hex) => `\\x${hex}`),
};

for (const [name, form] of Object.entries(forms)) {
  test(`LEAK-05.${name}: a reflected credential is masked in bytes and in text`, () => {
    const reflected = `{"seen": "${form(CANARY)}"}`;
    for (const masked of [bytes(reflected), anyone.text(reflected)]) {
      assert.match(masked, /^\{"seen": ".{0,6}\[masked\].{0,6}"\}$/);
      assert(!masked.includes('secret') && !masked.includes('c2VjcmV0') && !masked.includes('736563726574'));
    }
  });
}

test('LEAK-04: header echoes are masked whatever their case, twice or more', () => {
  assert.equal(
    bytes(`Authorization: Bearer ${CANARY}\nauthorization: Bearer ${CANARY}`),
    `Authorization: ${MASKED}\nauthorization: ${MASKED}`,
  );
});

test('mask: a text without a credential is the same object, with and without escapes', () => {
  for (const text of ['{"a":1}', '{"u":"https://a.test/?a=%2F&b=1&amp;c","s":"x\\u002fy \\\\ \\" 100%"}', 'ß€😀'.repeat(50)]) {
    const body = Buffer.from(text);
    assert.equal(anyone.bytes(body), body);
    assert.equal(anyone.text(text), text);
  }
});

const secretText = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_.~+/=-]{8,60}$/),
  fc.string({ unit: 'grapheme-ascii', minLength: 8, maxLength: 40 }),
  fc.string({ unit: 'grapheme', minLength: 8, maxLength: 20 }).filter((text) => text.isWellFormed()),
);
const around = fc.stringMatching(/^[A-Za-z0-9 .,:{}"/+=-]{0,12}$/);
/** The value, or a long part of it, in a form nobody would call encoded. */
const longestPiece = (masked: string, value: string) => {
  for (let length = value.length; length > 0; length--) {
    for (let at = 0; at + length <= value.length; at++) if (masked.includes(value.slice(at, at + length))) return length;
  }
  return 0;
};

test('LEAK-05: any secret in any form at any place is masked', () => {
  fc.assert(
    fc.property(secretText, fc.constantFrom(...Object.keys(forms)), around, around, (secret, name, before, after) => {
      const own = new CredentialMask({ values: [secret], attached: [] }).forAnyone();
      const encoded = forms[name]!(secret);
      const masked = Buffer.from(own.bytes(Buffer.from(`${before} ${encoded} ${after}`))).toString();
      assert(masked.includes(MASKED), masked);
      assert(!masked.includes(encoded));
      assert(own.text(masked) === masked, 'nothing is left to mask');
    }),
    { numRuns: 2000 },
  );
});

test('LEAK-05: base64 of a secret inside longer data leaves no piece of it', () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[A-Za-z0-9]{16,40}$/),
      fc.string({ maxLength: 9 }),
      fc.string({ maxLength: 9 }),
      (secret, before, after) => {
        const own = new CredentialMask({ values: [secret], attached: [] }).forAnyone();
        const masked = own.text(base64(before + secret + after));
        const [head = '', tail = ''] = masked.split(MASKED);
        const decodedHead = Buffer.from(head, 'base64').toString('latin1');
        assert(masked.includes(MASKED));
        assert(!decodedHead.includes(secret.slice(0, 2)) || Buffer.from(before).toString('latin1').includes(secret.slice(0, 2)));
        assert(tail.length <= Buffer.byteLength(after) * 2 + 4);
      },
    ),
    { numRuns: 500 },
  );
});

test('LEAK-06: any text without the secret is unchanged, byte for byte', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.stringMatching(/^[%\\&#;ux0-9a-fA-F]{0,40}$/)), (text) => {
      const body = Buffer.from(text);
      assert.equal(anyone.bytes(body), body);
      assert.equal(anyone.text(text), text);
    }),
    { numRuns: 1000 },
  );
});

test('LEAK-06: masked JSON stays JSON in every escaped form', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('raw', 'json_u', 'json_slash', 'percent', 'percent_twice', 'b64', 'hex', 'html_decimal'),
      around,
      (name, before) => {
        const inner = `${JSON.stringify(before).slice(1, -1)} ${forms[name]!(CANARY)}`;
        const parsed = JSON.parse(bytes(`{"a":"${inner}","b":[1]}`));
        assert.deepEqual({ ...parsed, a: parsed.a.replace(/=+$/, '') }, { a: `${before} ${MASKED}`, b: [1] });
      },
    ),
  );
});

test('LEAK-06: masking in the middle of base64 takes no half of an escape with it', () => {
  const inner = base64(`x${CANARY}yy`).slice(2);
  assert.match(JSON.parse(bytes(`{"a":"\\n${inner}"}`)).a, /^\n\[masked\]/);
});

test('LEAK-22: a right guess in the arguments is answered like a wrong one, in every form the remote may echo it', () => {
  const wrong = 'SYN/wrongg+guess=42~';
  for (const [name, form] of Object.entries(forms)) {
    const answers = [wrong, CANARY].map((guess) => {
      let anomalies = 0;
      const own = mask.forCall(JSON.stringify({ q: guess }), () => anomalies++);
      const answer = own.text(`echo ${form(guess)}; authorization: Bearer ${CANARY}`).replaceAll(form(guess), 'GUESS');
      return { answer, anomalies };
    });
    assert.equal(answers[1]!.answer, answers[0]!.answer, name);
    assert.equal(answers[1]!.answer, `echo GUESS; authorization: ${MASKED}`);
    assert.deepEqual([answers[0]!.anomalies, answers[1]!.anomalies], [0, 1]);
  }
});

test("LEAK-22: a guess hidden in an encoding is the caller's own text too", () => {
  for (const form of Object.values(forms)) {
    let anomalies = 0;
    const own = mask.forCall(JSON.stringify({ q: form(CANARY) }), () => anomalies++);
    assert.equal(own.text(`echo ${CANARY}`), `echo ${CANARY}`);
    assert.equal(anomalies, 1);
  }
});

test('LEAK-22: another call is not affected by a guess', () => {
  mask.forCall(JSON.stringify({ q: CANARY }), () => undefined);
  assert.equal(mask.forCall('{"q":"x"}', () => assert.fail('no anomaly')).text(CANARY), MASKED);
});

test('mask: nothing of a long secret survives', () => {
  const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz';
  const own = new CredentialMask({ values: [secret], attached: [`Bearer ${secret}`] }).forAnyone();
  const masked = own.text(
    Object.values(forms)
      .map((form) => form(secret))
      .join(' | '),
  );
  assert(longestPiece(masked, secret) < 4, masked);
});

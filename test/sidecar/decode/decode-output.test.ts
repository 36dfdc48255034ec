/** From what a command wrote to what rules see. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import type { Path } from '#core/completeness/path.ts';
import type { ResultRules } from '#core/contract/compiled.ts';
import { decodeOutput, type RawOutput } from '#sidecar/decode/decode-output.ts';
import type { Mask } from '#sidecar/decode/decode-reply.ts';

const NOTHING: Mask = { bytes: (body) => body, text: (text) => text };
const ROOT: Path = { text: '/', steps: [] };

function rules(decoder: ResultRules['decoder'], shape: 'items' | 'object' = 'items'): ResultRules {
  return {
    decoder,
    contentTypes: [],
    outcomes: [],
    shape: shape === 'items' ? { kind: 'items', paths: [ROOT] } : { kind: 'object', path: ROOT },
    absentItems: 'Error',
    as: 'x',
    id: [],
    fields: 'All',
  };
}

function decoded(stdout: string | Uint8Array, how: Partial<RawOutput>, given: ResultRules) {
  const raw = { stdout: Buffer.from(stdout), stderr: Buffer.from('e'), exit: { code: 0 }, ...how };
  const { body, fault, status, stderr } = decodeOutput(raw, given, NOTHING, 0);
  return { body, fault, status, stderr };
}

test('output: each decoder reads it, without a media type to ask for', () => {
  assert.deepEqual(decoded('{"a":1}', {}, rules('JSON')).body, { a: 1 });
  assert.deepEqual(decoded('{"a":1}\n{"a":2}\n', {}, rules('NDJSON')).body, [{ a: 1 }, { a: 2 }]);
  assert.deepEqual(decoded('x\ny\n', {}, rules('Lines')).body, [{ line: 'x' }, { line: 'y' }]);
  assert.deepEqual(decoded('x\ny\n', {}, rules('Lines', 'object')).body, { lines: ['x', 'y'] });
  assert.equal(decoded('', {}, rules('JSON')).fault, 'undecodable');
  assert.deepEqual(decoded('', {}, rules('Lines')).body, []);
});

test('output: none beside an exit code other than 0 is no fault, because the code says everything', () => {
  assert.deepEqual(decoded('', { exit: { code: 1 } }, rules('JSON')), { body: undefined, fault: undefined, status: 0, stderr: 'e' });
});

test('output: what was cut or over the cap keeps its whole records, also where a character was cut, and half a document is none', () => {
  const cut = Buffer.from('x\nyé\nzé').subarray(0, -1);
  for (const fault of ['cut', 'tooLarge'] as const) {
    assert.deepEqual(decoded(cut, { fault }, rules('Lines')), { body: [{ line: 'x' }, { line: 'yé' }], fault, status: 0, stderr: 'e' });
    assert.deepEqual(decoded('{"a":1}\n{"a"', { fault }, rules('NDJSON')).body, [{ a: 1 }]);
    assert.deepEqual(decoded('{"a":1}', { fault }, rules('JSON')), { body: undefined, fault, status: 0, stderr: 'e' });
  }
});

test('output: bytes that are no text are a fault on standard output, and readable on the error stream', () => {
  const reply = decoded(Uint8Array.of(0xff, 0xfe), { stderr: Uint8Array.of(0x61, 0xff) }, rules('Lines'));
  assert.deepEqual([reply.fault, reply.stderr], ['undecodable', 'a\ufffd']);
});

test('output: credentials are masked in both streams', () => {
  const mask: Mask = {
    bytes: (body) =>
      Buffer.from(body).includes('SECRET') ? Buffer.from(Buffer.from(body).toString().replaceAll('SECRET', '[masked]')) : body,
    text: (text) => text.replaceAll('SECRET', '[masked]'),
  };
  const raw = { stdout: Buffer.from('a SECRET\n'), stderr: Buffer.from('SECRET'), exit: { code: 0 } };
  const reply = decodeOutput(raw, rules('Lines'), mask, 0);
  assert.deepEqual([reply.body, reply.stderr, reply.reflected], [[{ line: 'a [masked]' }], '[masked]', true]);
  assert.ok(limits.sshStderrBytesMax > 0);
});

/** Pages of sizes nobody meant. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitRows, RowText } from '#sidecar/execute/row-text.ts';

test('a page of more rows than a call has arguments is collected', () => {
  const rows = Array.from({ length: 300_000 }, () => ({ n: 1 }));
  const fitting = fitRows(rows, 3 * 1024 * 1024);
  const text = new RowText();
  text.add(fitting.kept, fitting.text);
  assert.equal(text.rows.length, 300_000);
  assert.equal(JSON.parse(`[${text.text()}]`).length, 300_000);
});

test('no number of bytes is too few to be kept to', () => {
  const rows = [{ n: '\u20ac' }, { n: '\ud800' }, {}];
  const whole = JSON.stringify(rows);
  for (let bytes = 0; bytes <= Buffer.byteLength(whole) + 1; bytes += 1) {
    const { kept, text } = fitRows(rows, bytes);
    assert.deepEqual(JSON.parse(`[${text}]`), rows.slice(0, kept.length));
    assert.ok(kept.length === 0 || Buffer.byteLength(`[${text}]`) <= bytes);
  }
});

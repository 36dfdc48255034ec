import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { missingAfter, parseManifest } from '#core/audit/manifest.ts';
import { limits } from '#core/bounds/limits.ts';

const segment = (number: number) => ({
  number,
  first_sequence: number * 10 - 9,
  last_sequence: number * 10,
  bytes: 500,
  sha256: '0a'.repeat(32),
});
const MANIFEST = {
  format: 'postern-audit-manifest/1',
  origin: 'postern.dev/audit/x',
  segments: [segment(3), segment(4), segment(5)],
  ended: true,
};

describe('manifest', () => {
  test('manifest: says what stands behind the end of what is there', () => {
    const manifest = parseManifest(Buffer.from(JSON.stringify(MANIFEST)));
    assert.ok(manifest !== undefined);
    assert.deepEqual(missingAfter(manifest, 30), { count: 2, to: 50 });
    assert.deepEqual(missingAfter(manifest, 50), { count: 0, to: 50 });
  });

  test('manifest: a hostile one is none, and costs no more than its limit (AUD-22)', () => {
    const cyclic = [segment(3), segment(4), segment(3)];
    const hostile: Readonly<Record<string, unknown>> = {
      'another format': { ...MANIFEST, format: 'x' },
      'another origin': { ...MANIFEST, origin: '\u001b[2J' },
      'not ended': { ...MANIFEST, ended: false },
      'no segments': { ...MANIFEST, segments: [] },
      'a loop': { ...MANIFEST, segments: cyclic },
      'a gap': { ...MANIFEST, segments: [segment(3), segment(5)] },
      'a length of 2^63': { ...MANIFEST, segments: [{ ...segment(3), bytes: 2 ** 63 }] },
      'an end before its beginning': { ...MANIFEST, segments: [{ ...segment(3), last_sequence: 1 }] },
      'a digest that is none': { ...MANIFEST, segments: [{ ...segment(3), sha256: 'x' }] },
      'an item that is none': { ...MANIFEST, segments: [null] },
      'a list that is none': { ...MANIFEST, segments: { length: 3 } },
      null: null,
      'too many segments': {
        ...MANIFEST,
        segments: Array.from({ length: limits.auditManifestSegmentsMax + 1 }, (_, index) => segment(index + 1)),
      },
    };
    for (const [name, value] of Object.entries(hostile)) assert.equal(parseManifest(Buffer.from(JSON.stringify(value))), undefined, name);
    for (const text of ['', '{', '[]', '"x"', '\ufeff{}']) assert.equal(parseManifest(Buffer.from(text)), undefined, text);
    assert.equal(parseManifest(Buffer.alloc(limits.auditManifestBytesMax + 1, '[')), undefined);
  });
});

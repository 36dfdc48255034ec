import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createFileObjects } from '#core/runtime/file-objects.ts';
import { createOwnSink } from '#sidecar/audit/own-sink.ts';
import type { ShippedObject } from '#sidecar/audit/segment-sink.ts';

const home = mkdtempSync(join(tmpdir(), 'postern-own-sink-'));
after(() => rmSync(home, { recursive: true, force: true }));

const BEGAN_MS = Date.UTC(2026, 11, 1, 23, 59);
const signal = new AbortController().signal;

function objectOf(number: number, chainBeganMs: number, kind: ShippedObject['kind'] = 'segment'): ShippedObject {
  const bytes = Buffer.from(`${kind} ${number}`);
  return { kind, number, firstSequence: 1, lastSequence: 42, bytes, sha256: hash('sha256', bytes, 'buffer'), chainBeganMs };
}

async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of createFileObjects(folder).list('')) names.push(name);
  return names;
}

test('own sink: segments and manifest stand in the layout of the format', async () => {
  const folder = join(home, 'layout');
  const sink = createOwnSink(createFileObjects(folder), 'postern.dev/audit/standalone/local/0a-b');
  assert.equal(await sink.put(objectOf(1, BEGAN_MS), signal), 'created');
  assert.equal(await sink.put(objectOf(2, BEGAN_MS), signal), 'created');
  assert.equal(await sink.put(objectOf(0, BEGAN_MS, 'manifest'), signal), 'created');
  assert.deepEqual(await namesIn(folder), [
    'standalone/local/2026-12-01/0a-b/0000000001.seg',
    'standalone/local/2026-12-01/0a-b/0000000002.seg',
    'standalone/local/2026-12-01/0a-b/manifest-0000000000000042.json',
  ]);
});

test('own sink: a process that no longer knows when its chain began finds the folder, and makes no second one', async () => {
  const folder = join(home, 'forgotten');
  const origin = 'postern.dev/audit/standalone/local/one';
  const another = createOwnSink(createFileObjects(folder), 'postern.dev/audit/standalone/local/another');
  const later = BEGAN_MS + 40 * 86_400_000;
  await another.put(objectOf(1, later), signal);
  await createOwnSink(createFileObjects(folder), origin).put(objectOf(1, BEGAN_MS), signal);
  const sink = createOwnSink(createFileObjects(folder), origin);
  await sink.put(objectOf(7, later), signal);
  await sink.put(objectOf(8, later), signal);
  assert.deepEqual(
    (await namesIn(folder)).filter((name) => name.includes('/one/')),
    ['0000000001.seg', '0000000007.seg', '0000000008.seg'].map((name) => `standalone/local/2026-12-01/one/${name}`),
  );
});

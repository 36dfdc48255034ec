import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { REASONS } from '#core/error/reasons.ts';

const ROOT = new URL('../../', import.meta.url);

test('docs: every error code that is listed is answered by some source', () => {
  const sources = globSync(['core/**/*.ts', 'sidecar/**/*.ts', 'cli/**/*.ts'], { cwd: ROOT })
    .filter((file) => !file.includes('/gen/') && file !== 'core/error/reasons.ts')
    .map((file) => readFileSync(new URL(file, ROOT), 'utf8'))
    .join('\n');
  assert.deepEqual(
    Object.keys(REASONS).filter((code) => !sources.includes(`'${code}'`)),
    [],
  );
});

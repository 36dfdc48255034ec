import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { REASONS } from '#core/error/reasons.ts';

const ROOT = new URL('../../', import.meta.url);

test('docs: the error codes called reserved are those no source answers', () => {
  const page = readFileSync(new URL('docs/errors.md', ROOT), 'utf8');
  const [reserved] = /^.*never answered: .*$/m.exec(page) ?? [''];
  const said = [...reserved.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => code);
  const sources = globSync(['core/**/*.ts', 'sidecar/**/*.ts', 'cli/**/*.ts'], { cwd: ROOT })
    .filter((file) => !file.includes('/gen/') && file !== 'core/error/reasons.ts')
    .map((file) => readFileSync(new URL(file, ROOT), 'utf8'))
    .join('\n');
  assert.deepEqual(
    said,
    Object.keys(REASONS).filter((code) => !sources.includes(`'${code}'`)),
  );
});

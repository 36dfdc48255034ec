/** docs/credentials.md against the compiler: every example on it compiles, with nothing to warn of, and every kind of `use` is named. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { USE_KINDS } from '#core/contract/credential-use.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/credentials.md'), 'utf8');
const examples = [...page.matchAll(/^```yaml\n# (\S+)\n(.*?)^```/gms)].map(([, name = '', text = '']) => [name, text] as const);

for (const [name, text] of examples) {
  test(`credentials page: ${name} compiles`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'postern-page-'));
    try {
      writeFileSync(join(folder, name), text);
      const lint = spawnSync(process.execPath, [join(root, 'cli/postern.mjs'), 'contract', 'lint', folder], { encoding: 'utf8' });
      assert.equal(lint.status, 0, lint.stdout + lint.stderr);
      assert.doesNotMatch(lint.stdout, /not ready|does not serve/i);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

test('credentials page: names every kind of credential', () => {
  assert.equal(examples.length, 3);
  for (const kind of USE_KINDS) assert.ok(page.includes(`\`${kind}\``), kind);
});

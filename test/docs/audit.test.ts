/** What docs/audit.md tells to type: each command and each of its flags is one that the program knows. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PLUGIN } from '#test/cli/cluster-rig.ts';
import { run, runPostern } from '#test/cli/run-postern.ts';

const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'audit.md'), 'utf8');
const blocks = text.match(/```\n[\s\S]*?```/g) ?? [];
const commands = blocks.flatMap((block) => block.split('\n').filter((line) => /^(?:kubectl )?postern /.test(line)));

test('docs/audit.md: every command it shows is there, with the flags it shows', async () => {
  assert.ok(commands.length >= 8);
  for (const line of commands) {
    const words = line.replace(/^(?:kubectl )?postern /, '').split(' ');
    const command = words.slice(0, words[0] === 'audit' ? 2 : 1);
    const help = [...command, '--help'];
    const { code, out } = line.startsWith('kubectl') ? await run(process.execPath, [PLUGIN, ...help], {}) : await runPostern(help);
    assert.equal(code, 0, line);
    for (const flag of words.filter((word) => /^-/.test(word)))
      assert.ok(new RegExp(`(?:^|[\\s,])${flag}[\\s,]`).test(out), `${line}: ${flag}`);
  }
});

test('docs/audit.md: the views and the lines it explains are those of the program', async () => {
  const { out } = await runPostern(['audit', 'read', '--help']);
  assert.match(out, /"sessions", "activity"/);
  for (const flag of text.match(/`(--audit[a-z-]*)/g) ?? [])
    assert.match((await runPostern(['sidecar', '--help'])).out, new RegExp(`${flag.slice(1)} `));
});

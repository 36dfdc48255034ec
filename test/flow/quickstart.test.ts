/** The quickstart as a newcomer runs it; each of its claims is checked before it is printed, so that an end without a fault is most of it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from '#test/cli/run-postern.ts';

const root = join(import.meta.dirname, '..', '..');

test('quickstart: tells the four states, the refused cleanup, the approval, the effect that happened once and its audit, and ends well', async () => {
  const { code, out, err } = await run(process.execPath, [join(root, 'examples/quickstart/main.ts')], {});
  assert.equal(code, 0, err);
  assert.match(out, /EVIDENCE_REQUIRED: [\s\S]*EVIDENCE_INCOMPLETE: [\s\S]*the upstream counts 0 write-offs/);
  assert.match(out, /APPROVAL_REQUIRED: [\s\S]*\| Write off anchor-5, rope-20 of warehouse harbor\n[\s\S]*digest {2}sha256:/);
  assert.match(out, /Approved by .*\(uid \d+\)/);
  assert.match(out, /"number":"WO-1"[\s\S]*"number":"WO-1"[\s\S]*the upstream counts 1 write-off;/);
  assert.doesNotMatch(out, /"number":"WO-2"/);
  assert.match(out, /\| chain: valid\n {4}\| signature: valid to sequence \d+, signed by .*\n {4}\| tail: not checked \(--head\)/);
  assert.match(out, /\| .*write_off_items +Destructive +ok .* used /);
  assert.match(out, /chain: broken at sequence \d+: .*\(exit 1\)/);
  assert.match(out, /tail: not checked \(--head\) +\(exit 0\)[\s\S]*tail: TRUNCATED: head witnessed \d+, found \d+ +\(exit 1\)/);
  // What the README shows of it is what it prints.
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const shown = readme.match(/```\n(\[\d+\] [\s\S]*?)```/g) ?? [];
  assert.ok(shown.length >= 2);
  for (const block of shown) {
    for (const line of block.split('\n').slice(1, -1)) {
      if (line.trim() === '...' || line.trim() === '') continue;
      assert.ok(masked(out).includes(masked(line)), `the quickstart does not print: ${line}`);
    }
  }
});

/** What differs from run to run. */
function masked(text: string): string {
  return text
    .replaceAll(/op[_-][a-z0-9.]{6,}/g, 'OP')
    .replaceAll(/[0-9a-f]{12,64}(\.\.\.)?/g, 'DIGEST')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'TIME')
    .replaceAll(/((?:head witnessed|found|to sequence|at sequence|last sequence:|verified:)) \d+/g, '$1 N')
    .replaceAll(/signed by \S+/g, 'signed by AUTHORITY')
    .replaceAll(/\d+ records after/g, 'N records after')
    .replaceAll(/\d+ s before asking/g, 'SECONDS before asking')
    .replaceAll(/Approved by .* \(uid \d+\)/g, 'Approved by PERSON');
}

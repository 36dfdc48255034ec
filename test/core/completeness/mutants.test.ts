/**
 * Whether the property suite would notice: each mutant is one textual edit of the engine that makes it guess,
 * planted into a copy; the suite is run against the copy and must fail. An edit that no longer applies fails too.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

interface Mutant {
  readonly fault: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const MUTANTS: readonly Mutant[] = [
  {
    fault: 'a walk that was stopped counts as ended',
    file: 'reasons-of.ts',
    from: 'if (walk.done) return reasons;',
    to: 'if (walk.done || walk.stop !== undefined) return reasons;',
  },
  {
    fault: 'a walk that failed counts as ended',
    file: 'walk.ts',
    from: '{ ...walk, failure, pending: false }',
    to: '{ ...walk, failure, pending: false, done: true }',
  },
  {
    fault: 'a page with rows passes for an empty one',
    file: 'page-end.ts',
    from: "pageIs.includes('Empty') && answer.items.length === 0",
    to: "pageIs.includes('Empty')",
  },
  {
    fault: 'a flag that says more is read as the end',
    file: 'page-end.ts',
    from: "text === flag.equals ? 'end' : 'more'",
    to: "text === flag.equals ? 'end' : 'end'",
  },
  {
    fault: 'a next value is taken for the end',
    file: 'next-part.ts',
    from: "computed || ends.length === 0 ? 'silent' : 'more'",
    to: "computed || ends.length === 0 ? 'silent' : 'end'",
  },
  { fault: 'snapshot keys are not compared', file: 'consistency.ts', from: 'key !== first[index]', to: 'key !== keys[index]' },
  {
    fault: 'several pages need no basis',
    file: 'consistency.ts',
    from: "if (rules.consistency.mode === 'SinglePage')",
    to: "if (rules.consistency.mode === 'SnapshotHandle' && walk.pages < 0)",
  },
  {
    fault: 'a signal is forgotten on the next page',
    file: 'page.ts',
    from: 'new FindingSet(walk)',
    to: 'new FindingSet({ ...walk, reasons: [] })',
  },
  {
    fault: 'a cursor forgets the reasons of earlier calls',
    file: 'carry.ts',
    from: 'callPages: 0,',
    to: 'reasons: [], callPages: 0,',
  },
  {
    fault: 'a cursor forgets the ids of earlier calls',
    file: 'carry.ts',
    from: 'callPages: 0,',
    to: "ids: '', callPages: 0,",
  },
  { fault: 'rows beyond a limit are lost', file: 'walk.ts', from: 'ids: before.ids + returned,', to: 'ids: after.ids,' },
  {
    fault: 'a page read twice is not compared',
    file: 'page.ts',
    from: 'if (!checked && held.digest',
    to: 'if (!checked && held.rows < 0 && held.digest',
  },
  { fault: 'the offset skips a row', file: 'counter.ts', from: 'value: current + stride }', to: 'value: current + stride + 1 }' },
  { fault: 'a total that is larger is ignored', file: 'total.ts', from: 'came < seen.atLeast && !explained', to: 'came < 0 && !explained' },
  {
    fault: 'the reach of the remote is ignored',
    file: 'reach.ts',
    from: 'walk.rawItems >= reach.total && !proven',
    to: 'walk.rawItems > reach.total + 1_000 && !proven',
  },
  {
    fault: 'a required signal may be missing',
    file: 'required.ts',
    from: 'if (there) continue;',
    to: 'if (there || !isLast || isLast) continue;',
  },
  { fault: 'an unframed body counts as whole', file: 'page.ts', from: "if (reply.fault === 'unframed')", to: "if (reply.fault === 'cut')" },
];

let root = '';

describe('mutants', { concurrency: 2 }, () => {
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'postern-mutants-'));
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  it('mutants: the suite passes on an unchanged copy', async () => {
    assert.equal(await runSuite(copyWith(undefined, 'unchanged')), 0);
  });

  for (const [index, mutant] of MUTANTS.entries()) {
    it(`mutants: the suite notices when ${mutant.fault}`, async () => {
      assert.notEqual(await runSuite(copyWith(mutant, `mutant-${index}`)), 0);
    });
  }
});

/** Only what the suite imports is copied; everything else would be resolved to the unchanged engine or to nothing. */
function copyWith(mutant: Mutant | undefined, name: string): string {
  const project = process.cwd();
  const copy = join(root, name);
  mkdirSync(join(copy, 'test', 'core'), { recursive: true });
  for (const part of [
    'package.json',
    'core/bounds',
    'core/completeness',
    'core/contract',
    'core/encoding',
    'core/error',
    'test/core/completeness',
  ]) {
    cpSync(join(project, part), join(copy, part), { recursive: true });
  }
  symlinkSync(join(project, 'node_modules'), join(copy, 'node_modules'));
  if (mutant === undefined) return copy;
  const file = join(copy, 'core', 'completeness', mutant.file);
  const source = readFileSync(file, 'utf8');
  assert.equal(source.split(mutant.from).length, 2, `the edit of ${mutant.file} must apply exactly once: ${mutant.from}`);
  writeFileSync(file, source.replace(mutant.from, mutant.to));
  return copy;
}

function runSuite(copy: string): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['test/core/completeness/complete-is-true.test.ts'], {
      cwd: copy,
      stdio: 'ignore',
      env: { POSTERN_MUTANT: '1' },
    });
    child.on('error', reject);
    child.on('exit', resolve);
  });
}

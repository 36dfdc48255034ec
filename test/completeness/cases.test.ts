/**
 * The collected cases of answers that leave something out: one file each, replayed as `postern contract test` does it.
 * expected.json holds what the collection says; deviations.yaml where the design decides otherwise, and why.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { decide } from '#core/completeness/decide.ts';
import { readYaml } from '#core/contract/read-yaml.ts';
import { INCOMPLETE_REASONS } from '#core/error/reasons.ts';
import type { Outcome } from '#sidecar/contract-test/outcome.ts';
import { reportFailure } from '#sidecar/contract-test/report.ts';
import expected from './expected.json' with { type: 'json' };
import { replayFile, replayText } from './replay-file.ts';

interface ExpectedCase {
  readonly title: string;
  readonly status: string;
  readonly reasons: readonly string[];
  readonly warnings: readonly string[];
  readonly continuation: string;
  readonly items: number;
}
type Member = Exclude<keyof ExpectedCase, 'title'>;

interface Deviations {
  readonly deviations: readonly {
    readonly id: string;
    readonly member: Member;
    readonly case: unknown;
    readonly here: unknown;
    readonly because: string;
  }[];
  readonly notHere: readonly { readonly id: string; readonly because: string }[];
}

const FOLDER = 'test/completeness';
/** Within the life of every warning of the cases. */
const NOW = Date.UTC(2026, 0, 1);
const CASES: Readonly<Record<string, ExpectedCase>> = expected;
const { deviations, notHere }: Deviations = parse(readFileSync(`${FOLDER}/deviations.yaml`, 'utf8'));

describe('completeness cases', () => {
  for (const [id, wanted] of Object.entries(CASES)) {
    test(`${id}: ${wanted.title}`, async () => {
      const [result, ...more] = await replayFile(`${FOLDER}/cases/${id}.yaml`);
      assert.ok(result !== undefined && more.length === 0, 'one file has one test');
      assert.ok(result.passed, reportFailure(result).join('\n'));
      const outcome = result.calls[0]?.outcome;
      assert.ok(outcome !== undefined, 'the contract was called');
      assert.deepEqual(membersOf(outcome), membersOf(deviating(id, wanted)));
    });
  }

  test('every case of the collection has a file, or a written reason why not', () => {
    const files = readdirSync(`${FOLDER}/cases`).map((name) => name.replace(/\.yaml$/, ''));
    assert.deepEqual(files.sort(), Object.keys(CASES).sort());
    assert.equal(files.length + notHere.length, 98);
    assert.deepEqual(
      notHere.filter(({ id, because }) => because === '' || id in CASES),
      [],
    );
  });

  test('all files stand beside each other as one folder: every name is given once', () => {
    const names = ['cases', 'reasons'].flatMap((folder) =>
      readdirSync(`${FOLDER}/${folder}`).flatMap((name) =>
        readYaml(readFileSync(`${FOLDER}/${folder}/${name}`, 'utf8'), name).objects.map((object) => `${object.kind} ${object.name}`),
      ),
    );
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    );
  });

  test('a deviation names a case, what that case says, and why it is not so here', () => {
    for (const { id, member, case: said, here, because } of deviations) {
      assert.deepEqual(CASES[id]?.[member], said, `${id} ${member}`);
      assert.notDeepEqual(here, said, `${id} ${member} does not deviate`);
      assert.match(because, /design|contract language/, `${id} names what decides`);
    }
  });

  test('nothing in the program knows a case: no source reads a member `declared`', () => {
    const reading = sources().filter((file) =>
      /(?<!\.)\.declared\b|\[['"]declared['"]\]|completeness\.json/.test(readFileSync(file, 'utf8')),
    );
    assert.deepEqual(reading, []);
  });

  test('a contract with a member `declared` is refused', async () => {
    const text = readFileSync(`${FOLDER}/cases/B40.yaml`, 'utf8').replace(
      '  effect: Read\n',
      '  effect: Read\n  declared: {pager: next}\n',
    );
    const [result] = await replayText(text, 'B40.yaml');
    assert.deepEqual(
      result?.problems.map(({ path, code }) => [path, code]),
      [['spec.declared', 'unknown-field']],
    );
  });
});

describe('what may be done with an answer', () => {
  for (const [id, { title, status }] of Object.entries(CASES)) {
    if (status !== 'partial') continue;
    test(`${id}: no effect follows from it (${title})`, async () => {
      const answer = await envelopeOf(id);
      assert.equal(decide(answer, { kind: 'mutate', proof: 'declared' }, NOW), 'refuse_or_request_review');
      assert.equal(decide(answer, { kind: 'act_on_absence', proof: 'declared' }, NOW), 'refuse_or_request_review');
    });
  }
  for (const id of ['A07', 'A24', 'A40', 'B03']) {
    test(`${id}: complete, and still no proof that something is not there`, async () => {
      assert.equal(decide(await envelopeOf(id), { kind: 'act_on_absence', proof: 'declared' }, NOW), 'refuse_or_request_review');
    });
  }
  test('A70: complete and empty, so that absence may be cited', async () => {
    assert.equal(decide(await envelopeOf('A70'), { kind: 'act_on_absence' }, NOW), 'proceed');
  });
  test('A71: an empty first page with more pages gives continue_search', async () => {
    assert.equal(decide(await envelopeOf('A71'), { kind: 'report' }, NOW), 'continue_search');
  });
});

describe('what a reason names', () => {
  const named = [
    ['B32: the denied location', 'B32', 'VISIBILITY_RESTRICTED', { sources: ['loc-b'] }],
    ['A08: the forbidden namespace', 'A08', 'VISIBILITY_RESTRICTED', { sources: ['b'] }],
    ['A69: the source that is down', 'A69', 'SOURCE_UNAVAILABLE', { sources: ['b'] }],
    ['A60: the remote that failed', 'A60', 'SOURCE_UNAVAILABLE', { sources: ['ms-2'] }],
    ['A66: the time limit, as our own', 'A66', 'TIME_BUDGET_EXCEEDED', { origin: 'sidecar' }],
    ['B24: the page limit, as our own', 'B24', 'RESULT_LIMIT_REACHED', { origin: 'sidecar', limit: { pages: 1 } }],
  ] as const;
  for (const [name, id, code, facts] of named) {
    test(name, async () => {
      const [result] = await replayFile(`${FOLDER}/cases/${id}.yaml`);
      const reasons = result?.calls[0]?.outcome.completeness?.incomplete_reasons ?? [];
      assert.partialDeepStrictEqual(reasons.find((reason) => reason.code === code) ?? {}, facts);
    });
  }
});

describe('reasons', () => {
  for (const code of INCOMPLETE_REASONS) {
    test(`${code} is what its shortest answer gives`, async () => {
      const results = await replayFile(`${FOLDER}/reasons/${code}.yaml`);
      assert.ok(results.length > 0, 'there is a test');
      for (const result of results) assert.ok(result.passed, reportFailure(result).join('\n'));
      const codes = results[0]?.calls[0]?.outcome.completeness?.incomplete_reasons.map((reason) => reason.code);
      assert.ok(codes?.includes(code), `${codes} has ${code}`);
    });
  }
});

test('outcomes', async (t) => {
  for (const result of await replayFile(`${FOLDER}/outcomes.yaml`)) {
    await t.test(`${result.name} is what design section 10 says`, () => assert.ok(result.passed, reportFailure(result).join('\n')));
  }
});

async function envelopeOf(id: string): Promise<Parameters<typeof decide>[0]> {
  const [result] = await replayFile(`${FOLDER}/cases/${id}.yaml`);
  const outcome = result?.calls[0]?.outcome;
  assert.ok(outcome?.completeness !== undefined, 'the contract was called');
  return { completeness: outcome.completeness, warnings: outcome.warnings };
}

function membersOf(outcome: Outcome | ExpectedCase): object {
  const seen = 'title' in outcome ? outcome : said(outcome);
  return { ...seen, title: undefined, reasons: [...new Set(seen.reasons)].sort(), warnings: [...new Set(seen.warnings)].sort() };
}

function said(outcome: Outcome): Omit<ExpectedCase, 'title'> {
  return {
    status: outcome.status,
    reasons: (outcome.completeness?.incomplete_reasons ?? []).map(({ code }) => code),
    warnings: outcome.warnings.map(({ code }) => code),
    continuation: outcome.completeness?.continuation.kind ?? 'none',
    items: outcome.items ?? 0,
  };
}

function deviating(id: string, wanted: ExpectedCase): ExpectedCase {
  const here = deviations.filter((deviation) => deviation.id === id).map(({ member, here: value }) => [member, value] as const);
  return { ...wanted, ...Object.fromEntries(here) };
}

function sources(): readonly string[] {
  return ['core', 'sidecar', 'cli'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') || name.endsWith('.mjs'))
      .map((name) => `${folder}/${name}`),
  );
}

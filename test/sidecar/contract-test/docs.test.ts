/** The page people copy from: its example runs, and every field of the format is on it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readYaml } from '#core/contract/read-yaml.ts';
import { readContractTest } from '#sidecar/contract-test/read-test.ts';
import { reportFailure } from '#sidecar/contract-test/report.ts';
import { runContractTests } from '#sidecar/contract-test/run-contract-test.ts';

const PAGE = readFileSync(new URL('../../../docs/contract-test.md', import.meta.url), 'utf8');
const EXAMPLE =
  [...PAGE.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text ?? '').find((text) => text.includes('kind: ContractTest')) ?? '';

const CONTRACT = `apiVersion: postern.dev/v1alpha1
kind: CredentialBinding
metadata: {name: triage}
spec:
  owner: triage-team
  secret: {name: postern-triage}
  contracts: [list-open-issues]
  destinations: [{origin: "https://api.github.com"}]
  use: {bearer: {key: token}}
---
apiVersion: postern.dev/v1alpha1
kind: ActionContract
metadata: {name: list-open-issues}
spec:
  action: list_open_issues
  summary: List open issues of $(args.repository)
  owner: triage-team
  effect: Read
  callers: [{serviceAccount: triage-bot}]
  credentials: [triage]
  arguments: {type: object, additionalProperties: false, required: [repository], properties: {repository: {type: string, enum: [storefront]}}}
  resolve: {repository: {storefront: {owner: acme, repo: storefront}}}
  http: {credential: triage, method: GET, url: "https://api.github.com/repos/$(resolve.repository.owner)/$(resolve.repository.repo)/issues", query: {state: open}}
  result: {items: [/], as: issues, id: [/number], order: {by: /number, direction: Ascending, compare: Number}, fields: [{name: number}, {name: title}]}
  completeness:
    preset: github-rest-v1
    limits: {pageSize: 100}
    scope: {resource: open issues, visibility: issues the triage app may read, absence: Provable}
`;

test('docs: the example of the contract test page passes', async () => {
  const { objects, problems } = readYaml(`${CONTRACT}---\n${EXAMPLE}`, 'docs.yaml');
  assert.deepEqual(problems, []);
  const of = (kind: string) => objects.filter((object) => object.kind === kind);
  const [result] = await runContractTests({
    contracts: of('ActionContract'),
    bindings: of('CredentialBinding'),
    presets: [],
    tests: of('ContractTest'),
  });
  assert.deepEqual(reportFailure(result!), []);
});

test('docs: every field of the format is on the page', () => {
  const empty = { kind: 'ContractTest', name: 'x', namespace: 'default' } as const;
  const exchange = { request: { nothing: 1 }, response: { nothing: 1 }, nothing: 1 };
  const { problems } = readContractTest({ ...empty, spec: { nothing: 1, exchanges: [exchange], expect: { nothing: 1 } } });
  const fields = problems
    .filter(({ code }) => code === 'unknown-field')
    .flatMap(({ cure }) => /^Use one of (.*)\.$/.exec(cure)?.[1]?.split(', ') ?? []);
  assert.ok(fields.length > 20);
  for (const field of fields) assert.ok(PAGE.includes(`\`${field}\``), `${field} is not on the page`);
});

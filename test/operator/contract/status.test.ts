import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileContract } from '#core/contract/compile.ts';
import { callerFacts, cloudIdentityRefusal, workloadsOf } from '#operator/contract/callers.ts';
import { sessionFacts } from '#operator/contract/session-facts.ts';
import { type Compiled, type ContractFacts, contractStatus } from '#operator/contract/status.ts';
import { asWritten, PRESETS, surroundings } from '#operator/contract/written.ts';
import { type AccountRecord, bindingRecord, contractRecord, type OwnerReference } from '#operator/kube/records.ts';
import { bindingObject, clusterOf, contractObject, metadata, podOf, sessionOf } from './records.ts';

const NOW_MS = Date.parse('2026-12-01T00:00:00Z');

function compiled(change: object = {}, binding: object | null = {}): Compiled {
  const object = contractObject(change);
  const record = contractRecord(object);
  const cluster = clusterOf([object, ...(binding === null ? [] : [bindingObject(binding)])]);
  const contract = asWritten('ActionContract', record).object;
  assert.ok(contract);
  const result = compileContract({ contract, ...surroundings(record, cluster), presets: PRESETS, nowMs: NOW_MS });
  return result.contract === undefined
    ? { kind: 'misfit', problems: result.problems }
    : { kind: 'compiled', contract: result.contract, problems: result.problems };
}

function facts(change: Partial<ContractFacts> = {}): ContractFacts {
  return {
    name: 'list-stock',
    generation: 3,
    compiled: compiled(),
    defaults: {},
    callers: [callerFacts('bot', undefined, [])],
    sessions: { current: 0, behind: 0, warnings: [] },
    suspendedBindings: [],
    suspended: undefined,
    nowMs: NOW_MS,
    ...change,
  };
}

function conditionsOf(change: Partial<ContractFacts>): Readonly<Record<string, string>> {
  const { conditions } = contractStatus(facts(change));
  return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
}

const OK = { Accepted: 'True Compiled', Ready: 'True Ready' };
const warnings = (expires: string) => [{ name: 'lag', code: 'STALE_INDEX', owner: 'stock-team', expires, message: 'It lags.' }];
const completeness = {
  paging: { mode: 'SingleResponse' },
  scope: { resource: 'stock', visibility: 'all of it', absence: 'Never' },
  notices: [{ name: 'lag', warning: 'lag' }],
};

const TABLE: readonly { readonly name: string; readonly facts: Partial<ContractFacts>; readonly is: Readonly<Record<string, string>> }[] = [
  { name: 'compiles and has its binding', facts: {}, is: OK },
  {
    name: 'waits for its binding',
    facts: { compiled: compiled({}, null) },
    is: { Accepted: 'True Compiled', Ready: 'False NotReady' },
  },
  {
    name: 'has problems of its own',
    facts: { compiled: { kind: 'problems', problems: [] } },
    is: { Accepted: 'False HasProblems', Ready: 'False NotAccepted' },
  },
  {
    name: 'does not fit its binding',
    facts: { compiled: compiled({}, { contracts: [] }) },
    is: { Accepted: 'False DoesNotFit', Ready: 'False NotAccepted' },
  },
  {
    name: 'makes the compiler fail (OPR-11)',
    facts: { compiled: { kind: 'fault' } },
    is: { Accepted: 'False CompilerFault', Ready: 'False NotAccepted' },
  },
  {
    name: 'is suspended',
    facts: { suspended: 'under review' },
    is: { Accepted: 'True Compiled', Ready: 'False Suspended', Suspended: 'True Suspended' },
  },
  {
    name: 'has a suspended binding',
    facts: { suspendedBindings: ['stock'] },
    is: { Accepted: 'True Compiled', Ready: 'False Suspended', Suspended: 'True BindingSuspended' },
  },
  {
    name: 'passes all fields',
    facts: { compiled: compiled({ result: { items: ['/items'], as: 'items', allFields: { because: 'public' } } }) },
    is: { ...OK, AllFieldsPass: 'True AllFields' },
  },
  {
    name: 'has one caller refused of two',
    facts: { callers: [callerFacts('bot', undefined, []), callerFacts('other', 'it may create pods', [])] },
    is: { ...OK, CallersRefused: 'True UnsafeCaller' },
  },
  {
    name: 'has every caller refused (LEAK-24)',
    facts: { callers: [callerFacts('bot', 'it may create pods', [])] },
    is: { Accepted: 'True Compiled', Ready: 'False CallersRefused', CallersRefused: 'True UnsafeCaller' },
  },
  {
    name: 'shares an account among workloads',
    facts: { callers: [callerFacts('bot', undefined, [podOf(), podOf({ name: 'other-pod' })])] },
    is: { ...OK, SharedServiceAccount: 'True SeveralWorkloads' },
  },
  {
    name: 'has a warning that is valid for long',
    facts: { compiled: compiled({ warnings: warnings('2027-03-01'), completeness }) },
    is: OK,
  },
  {
    name: 'has a warning that expires within 14 days',
    facts: { compiled: compiled({ warnings: warnings('2026-12-10'), completeness }) },
    is: { ...OK, WarningExpiring: 'True ExpiresSoon' },
  },
  {
    name: 'has a warning that expired',
    facts: { compiled: compiled({ warnings: warnings('2026-11-29'), completeness }) },
    is: { ...OK, WarningExpiring: 'True Expired' },
  },
];

for (const row of TABLE) {
  test(`contract status: a contract that ${row.name} says so`, () => {
    assert.deepEqual(conditionsOf(row.facts), row.is);
  });
}

test('contract status: a rule of a preset that is dropped is named', () => {
  const base = compiled();
  assert.ok(base.kind === 'compiled');
  const problem = {
    object: { kind: 'ActionContract', name: 'list-stock' },
    path: 'spec.completeness.signals[0]',
    code: 'preset-weakened',
    severity: 'warning',
    message: 'deep-page is dropped.',
    cure: 'Keep the rule.',
  } as const;
  const { conditions } = contractStatus(facts({ compiled: { ...base, problems: [problem] } }));
  const found = conditions.find(({ type }) => type === 'PresetWeakened');
  assert.match(found?.message ?? '', /deep-page is dropped/);
});

test('contract status: revision and best are of the compiled contract, and absent without one', () => {
  const { revision, best } = contractStatus(facts());
  assert.match(revision ?? '', /^sha256:[0-9a-f]{64}$/);
  assert.equal(best, 'Complete');
  assert.equal(contractStatus(facts({ compiled: { kind: 'fault' } })).revision, undefined);
});

const owner = (kind: string, name: string): OwnerReference => ({ apiVersion: 'v1', kind, name, uid: 'u', controller: true });

test('callers: pods are counted under the workload a person knows, and ended pods are nobody’s', () => {
  const pods = [
    podOf({ controller: owner('ReplicaSet', 'bot-7d9f8c6b5d') }),
    podOf({ controller: owner('ReplicaSet', 'bot-7d9f8c6b5d') }),
    podOf({ controller: owner('Job', 'nightly-28731600') }),
    podOf({ controller: owner('ReplicaSet', 'by-hand') }),
    podOf({ name: 'alone' }),
    podOf({ phase: 'Succeeded', name: 'done' }),
  ];
  assert.deepEqual(
    workloadsOf(pods).map(({ kind, name, pods: count }) => `${kind}/${name} ${count}`),
    ['Deployment/bot 2', 'Pod/alone 1', 'ReplicaSet/by-hand 1', 'CronJob/nightly 1'],
  );
});

const account = (annotation: string): AccountRecord => ({ ...metadata('bot'), annotations: { [annotation]: 'x' } });

for (const annotation of ['eks.amazonaws.com/role-arn', 'iam.gke.io/gcp-service-account', 'azure.workload.identity/client-id']) {
  test(`callers: ${annotation} refuses the account until every binding allows it (LEAK-24)`, () => {
    const strict = bindingRecord(bindingObject({ owner: 'says "allowCloudIdentity":{"because":"x"}' }));
    const open = bindingRecord(bindingObject({ allowCloudIdentity: { because: 'one bucket' } }, 'open'));
    assert.match(
      cloudIdentityRefusal(account(annotation), [open, strict]) ?? '',
      /^it has an identity in \w+.*, and the binding stock does not/,
    );
    assert.equal(cloudIdentityRefusal(account(annotation), [open]), undefined);
  });
}

test('callers: an account without a cloud identity is not refused for one', () => {
  assert.equal(cloudIdentityRefusal(account('team'), [bindingRecord(bindingObject())]), undefined);
  assert.equal(cloudIdentityRefusal(undefined, [bindingRecord(bindingObject())]), undefined);
});

test('session facts: only a session that runs the present revision is current; ended ones do not count', () => {
  const at = (revision: string) => ({ contracts: [{ name: 'list-stock', revision }] });
  const sessions = [
    sessionOf({ state: 'Active', ...at('sha256:new') }),
    sessionOf({ state: 'Active', ...at('sha256:old') }),
    sessionOf({ state: 'Active', contracts: [{ name: 'list-stock', refused: 'unknown-field' }] }),
    sessionOf({ state: 'Pending' }),
    sessionOf({ state: 'Ended', ...at('sha256:new') }),
    sessionOf({ state: 'Revoked', ...at('sha256:new') }),
  ];
  const { current, behind } = sessionFacts({ name: 'list-stock', revision: 'sha256:new' }, sessions);
  assert.deepEqual({ current, behind }, { current: 1, behind: 3 });
  assert.equal(sessionFacts({ name: 'list-stock', revision: undefined }, sessions).current, 0);
});

test('session facts: warnings of all sessions are put together by code and owner', () => {
  const warning = (action: string, firstSeen: string, lastSeen: string) => ({
    action,
    code: 'STALE_INDEX',
    owner: 'stock-team',
    firstSeen,
    lastSeen,
  });
  const sessions = [
    sessionOf({ state: 'Active', warnings: [warning('list_stock', '2026-11-02T00:00:00Z', '2026-11-20T00:00:00Z')] }),
    sessionOf({ state: 'Active', warnings: [warning('list_stock', '2026-11-01T00:00:00Z', '2026-11-10T00:00:00Z')] }),
    sessionOf({ state: 'Active', warnings: [warning('other', '2026-10-01T00:00:00Z', '2026-12-10T00:00:00Z')] }),
  ];
  assert.deepEqual(sessionFacts({ name: 'list-stock', revision: undefined }, sessions).warnings, [
    { code: 'STALE_INDEX', owner: 'stock-team', sessions: 2, firstSeen: '2026-11-01T00:00:00Z', lastSeen: '2026-11-20T00:00:00Z' },
  ]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileBinding } from '#core/contract/binding.ts';
import { bindingWritten } from '#operator/binding/admit.ts';
import { keyFacts } from '#operator/binding/key-facts.ts';
import { type BindingFacts, bindingStatus } from '#operator/binding/status.ts';
import { bindingRecord } from '#operator/kube/records.ts';
import { bindingObject, sessionOf } from '#test/operator/contract/records.ts';

function facts(change: Partial<BindingFacts> = {}, spec: object = {}): BindingFacts {
  const { object } = bindingWritten(bindingRecord(bindingObject(spec)));
  assert.ok(object);
  const { binding, problems } = compileBinding(object);
  return {
    name: 'stock',
    generation: 2,
    binding,
    problems,
    usedBy: ['list-stock'],
    keys: [],
    podsToRoll: [],
    refusedCallers: [],
    podSecurity: 'restricted',
    ...change,
  };
}

const key = (present: number, missing: number, unusable = 0) => ({ key: 'token', present, missing, unusable, values: [] });
const OK = { Accepted: 'True Compiled', Ready: 'True Ready' };
const plaintext = { destinations: [{ origin: 'http://9.9.9.9:8080', transport: 'Plaintext' }] };

const TABLE: readonly { readonly name: string; readonly facts: BindingFacts; readonly is: Readonly<Record<string, string>> }[] = [
  { name: 'nobody has reported on', facts: facts(), is: OK },
  {
    name: 'has problems',
    facts: facts({}, { use: {} }),
    is: { Accepted: 'False HasProblems', Ready: 'False NotAccepted' },
  },
  {
    name: 'is suspended',
    facts: facts({}, { suspended: { because: 'leaked' } }),
    is: { Accepted: 'True Compiled', Ready: 'False Suspended', Suspended: 'True Suspended' },
  },
  { name: 'goes in clear', facts: facts({}, plaintext), is: { ...OK, PlaintextAllowed: 'True Plaintext' } },
  {
    name: 'stands in a namespace without PodSecurity',
    facts: facts({ podSecurity: undefined }),
    is: { ...OK, NamespaceUnsafe: 'True BelowBaseline' },
  },
  {
    name: 'stands in a privileged namespace',
    facts: facts({ podSecurity: 'privileged' }),
    is: { ...OK, NamespaceUnsafe: 'True BelowBaseline' },
  },
  { name: 'stands in a baseline namespace', facts: facts({ podSecurity: 'baseline' }), is: OK },
  {
    name: 'has a caller refused',
    facts: facts({ refusedCallers: ['bot: it may create pods'] }),
    is: { ...OK, CallersRefused: 'True UnsafeCaller' },
  },
  { name: 'is not mounted in a running pod', facts: facts({ podsToRoll: ['bot-1'] }), is: { ...OK, RollNeeded: 'True SecretNotMounted' } },
  { name: 'some sidecars miss a key of', facts: facts({ keys: [key(1, 2)] }), is: OK },
  {
    name: 'every sidecar misses a key of',
    facts: facts({ keys: [key(0, 2)] }),
    is: { Accepted: 'True Compiled', Ready: 'False KeysUnusable' },
  },
  { name: 'no sidecar can use', facts: facts({ keys: [key(0, 0, 1)] }), is: { Accepted: 'True Compiled', Ready: 'False KeysUnusable' } },
];

for (const row of TABLE) {
  test(`binding status: a binding that ${row.name} says so`, () => {
    const { conditions } = bindingStatus(row.facts);
    assert.deepEqual(Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`])), row.is);
  });
}

test('binding status: a condition tells people what to do', () => {
  const { conditions, podsToRoll } = bindingStatus(facts({ podsToRoll: ['bot-1', 'bot-2'], keys: [key(0, 1)] }));
  const message = (type: string) => conditions.find((condition) => condition.type === type)?.message ?? '';
  assert.equal(podsToRoll, 2);
  assert.match(message('RollNeeded'), /start these anew: bot-1, bot-2/);
  assert.match(message('Ready'), /token is not in the Secret.*Put the keys into the Secret postern-stock/);
});

const report = (state: string, digest?: string, since?: string, binding = 'stock') => ({ binding, key: 'token', state, digest, since });

test('key facts: sidecars are counted by state and by value, so that a rotation can be watched', () => {
  const sessions = [
    sessionOf({ state: 'Active', credentials: [report('Present', 'aaaaaaaa', '2026-11-02T00:00:00Z')] }),
    sessionOf({ state: 'Active', credentials: [report('Present', 'aaaaaaaa', '2026-11-01T00:00:00Z')] }),
    sessionOf({ state: 'Active', credentials: [report('Present', 'bbbbbbbb')] }),
    sessionOf({ state: 'Active', credentials: [report('Missing')] }),
    sessionOf({ state: 'Pending', credentials: [report('Unusable'), report('Present', 'cccccccc', undefined, 'other')] }),
    sessionOf({ state: 'Ended', credentials: [report('Present', 'dddddddd')] }),
  ];
  assert.deepEqual(keyFacts('stock', sessions), [
    {
      key: 'token',
      present: 3,
      missing: 1,
      unusable: 1,
      values: [
        { digest: 'aaaaaaaa', sidecars: 2, since: '2026-11-01T00:00:00Z' },
        { digest: 'bbbbbbbb', sidecars: 1 },
      ],
    },
  ]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exposureNote, exposureOf, namespaceExposure } from '#operator/exposure/exposure.ts';
import { emptyCluster } from '#operator/kube/cluster.ts';
import { contractRecord, type KubeObject, namespaceRecord, type PodObject, type PodRecord, podRecord } from '#operator/kube/records.ts';
import { contractObject, metadata, podOf } from '#test/operator/contract/records.ts';

const enforced = namespaceRecord({ metadata: { ...metadata('triage', ''), labels: { 'postern.dev/enforce': '' } } } as KubeObject);
const free = namespaceRecord({ metadata: metadata('triage', '') } as KubeObject);
const bare: Partial<PodRecord> = { hasSidecar: false, mountedSecrets: [] };

const TABLE: readonly {
  readonly name: string;
  readonly pod: PodRecord;
  readonly caller?: boolean;
  readonly open?: true;
  readonly is: string | undefined;
}[] = [
  { name: 'a caller’s pod without the sidecar (INJ-22)', pod: podOf(bare), is: 'caller_without_sidecar' },
  { name: 'a labelled pod without the sidecar', pod: podOf({ ...bare, inject: true }), caller: false, is: 'labelled_without_sidecar' },
  { name: 'a mirror pod (INJ-19)', pod: podOf({ ...bare, mirror: true }), caller: false, is: 'mirror' },
  { name: 'a pod that mounts the credentials without the sidecar', pod: podOf({ hasSidecar: false }), is: 'reserved_secret' },
  {
    name: 'a pod that names a reserved Secret, in any namespace',
    pod: podOf({ ...bare, reservedElsewhere: true }),
    open: true,
    is: 'reserved_secret',
  },
  { name: 'a pod with the sidecar', pod: podOf(), is: undefined },
  { name: 'a pod nobody asks to guard', pod: podOf(bare), caller: false, is: undefined },
  { name: 'a caller’s pod in a namespace that is not enforced', pod: podOf(bare), open: true, is: undefined },
  { name: 'a pod that has ended', pod: podOf({ ...bare, phase: 'Succeeded' }), is: undefined },
  { name: 'a pod that is being deleted', pod: podOf({ ...bare, deleting: true }), is: undefined },
];

for (const row of TABLE) {
  test(`exposure: ${row.name} is ${row.is ?? 'no exposure'}`, () => {
    assert.equal(exposureOf(row.pod, row.open ? free : enforced, row.caller ?? true), row.is);
  });
}

test('exposure: a namespace names its pods by reason, and only callers that are accepted and not refused count', () => {
  const cluster = emptyCluster();
  cluster.namespaces.put(enforced);
  for (const name of ['b', 'a']) cluster.pods.put(podOf({ ...bare, name, serviceAccount: 'bot' }));
  cluster.pods.put(podOf({ ...bare, name: 'c', serviceAccount: 'refused' }));
  const object = contractObject({ callers: [{ serviceAccount: 'bot' }, { serviceAccount: 'refused' }] });
  assert.equal(exposureNote(namespaceExposure('triage', cluster)), '');
  const status = {
    conditions: [
      { type: 'Accepted', status: 'True' as const, reason: 'Compiled', message: '', lastTransitionTime: '2026-12-01T00:00:00Z' },
    ],
    callers: [{ serviceAccount: 'bot' }, { serviceAccount: 'refused', refused: 'it may create pods' }],
  };
  cluster.contracts.put(contractRecord({ ...object, status }));
  const found = namespaceExposure('triage', cluster);
  assert.deepEqual(found.pods.caller_without_sidecar, ['a', 'b']);
  assert.deepEqual([...found.accounts], [['bot', ['a', 'b']]]);
  assert.match(exposureNote(found), /^2 pods run as the caller of a contract and have no sidecar \(a, b\)\. Make them anew/);
});

const spec = (change: object) =>
  ({ metadata: metadata('p'), spec: { containers: [{ name: 'agent' }], ...change } }) as unknown as PodObject;
const projected = [{ secret: { name: 'postern-stock' } }];

for (const [where, change, is] of [
  ['env', { containers: [{ name: 'a', env: [{ name: 'T', valueFrom: { secretKeyRef: { name: 'postern-stock', key: 't' } } }] }] }, true],
  ['envFrom', { containers: [{ name: 'a', envFrom: [{ secretRef: { name: 'postern-stock' } }] }] }, true],
  ['a volume', { volumes: [{ name: 'v', secret: { secretName: 'postern-stock' } }] }, true],
  ['a projected volume of another name', { volumes: [{ name: 'v', projected: { sources: projected } }] }, true],
  ['imagePullSecrets', { imagePullSecrets: [{ name: 'postern-pull' }] }, true],
  ['the sidecar’s own volume', { volumes: [{ name: 'postern-credentials', projected: { sources: projected } }] }, false],
  [
    'a container’s name only',
    { containers: [{ name: 'postern-agent' }], volumes: [{ name: 'v', secret: { secretName: 'other' } }] },
    false,
  ],
] as const) {
  test(`exposure: a reserved Secret in ${where} is ${is ? '' : 'not '}seen as used elsewhere`, () => {
    assert.equal(podRecord(spec(change)).reservedElsewhere, is);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BindingRecord, PodRecord } from '#operator/kube/records.ts';
import { announcementOf, rotationStep } from '#operator/rotation/announcement.ts';

const BINDING: BindingRecord = {
  namespace: 'triage',
  name: 'github',
  uid: 'b',
  resourceVersion: '1',
  generation: 1,
  specJson: '{}',
  secret: 'postern-github',
  secretRevision: undefined,
  rotateRequested: undefined,
  secretVersion: undefined,
  contracts: ['list'],
  keys: ['token'],
  status: undefined,
};
const POD: PodRecord = {
  namespace: 'triage',
  name: 'agent-1',
  uid: 'p',
  resourceVersion: '1',
  serviceAccount: 'bot',
  node: 'n',
  phase: 'Running',
  deleting: false,
  inject: false,
  hasSidecar: true,
  mirror: false,
  controller: undefined,
  image: 'agent',
  imageDigest: undefined,
  mountedSecrets: ['postern-github'],
  reservedElsewhere: false,
  touched: undefined,
};

const announced = (binding: Partial<BindingRecord>, pods: readonly PodRecord[]) => {
  const step = rotationStep({ ...BINDING, ...binding }, pods);
  return step.kind === 'announce' ? step : assert.fail('nothing is announced');
};

test('announcement: a binding that was never rotated touches no pod', () => {
  assert.deepEqual(rotationStep(BINDING, [POD]), { kind: 'nothing' });
});

test('announcement: each way to announce, and a change of one, is another announcement', () => {
  const { secretRevision, rotateRequested, secretVersion } = BINDING;
  const none = { secretRevision, rotateRequested, secretVersion };
  const all = [
    announcementOf({ ...none, secretRevision: 'a' }),
    announcementOf({ ...none, rotateRequested: 'a' }),
    announcementOf({ ...none, secretVersion: 'a' }),
    announcementOf({ ...none, secretRevision: 'a', rotateRequested: 'a' }),
    announcementOf({ ...none, secretRevision: 'b', rotateRequested: 'a' }),
  ];
  assert.equal(new Set(all).size, 5);
});

test('announcement: what was announced before is not announced again', () => {
  const { announcement } = announced({ secretRevision: '2027-05-03' }, [POD]);
  const status = { announcedRevision: announcement };
  assert.deepEqual(rotationStep({ ...BINDING, secretRevision: '2027-05-03', status }, [POD]), { kind: 'nothing' });
  assert.equal(announced({ secretRevision: '2027-05-04', status }, [POD]).pods.length, 1);
});

test('announcement: a second attempt leaves out the pods the first one touched', () => {
  const { mark } = announced({ rotateRequested: 'now' }, [POD]);
  const other = { ...POD, name: 'agent-2', uid: 'q' };
  assert.deepEqual(announced({ rotateRequested: 'now' }, [{ ...POD, touched: mark }, other]).pods, [other]);
});

test('announcement: the mark of another binding of the same Secret does not hide a pod', () => {
  const { mark } = announced({ name: 'other', rotateRequested: 'now' }, [POD]);
  assert.equal(announced({ rotateRequested: 'now' }, [{ ...POD, touched: mark }]).pods.length, 1);
});

test('announcement: pods that end or have ended are left alone', () => {
  const pods = [
    { ...POD, deleting: true },
    { ...POD, phase: 'Succeeded' },
    { ...POD, phase: 'Failed' },
  ];
  assert.deepEqual(announced({ rotateRequested: 'now' }, pods).pods, []);
});

test('announcement: the mark fits an annotation and the announcement fits the status', () => {
  const { mark, announcement } = announced({ name: 'b'.repeat(63), secretRevision: 'r'.repeat(63), rotateRequested: 'x'.repeat(1000) }, [
    POD,
  ]);
  assert.ok(mark.length < 256);
  assert.ok(announcement.length <= 63);
});

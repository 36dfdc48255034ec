import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cache, type Identified } from '#operator/kube/cache.ts';
import { RecordKeeper } from '#operator/kube/record-keeper.ts';
import type { KubeObject } from '#operator/kube/records.ts';

const object = (uid: string, resourceVersion: string): KubeObject => ({ metadata: { namespace: 'n', name: 'a', uid, resourceVersion } });

function startKeeper(): { readonly cache: Cache<Identified>; readonly keeper: RecordKeeper<Identified, KubeObject> } {
  const cache = new Cache<Identified>();
  const record = ({ metadata: { namespace = '', name, uid, resourceVersion } }: KubeObject) => ({ namespace, name, uid, resourceVersion });
  return { cache, keeper: new RecordKeeper({ cache, record, onUnreadable: () => assert.fail('unreadable') }) };
}

test('record keeper: a replayed deletion spares what was created under the name since (OPR-10, OPR-23)', () => {
  const { cache, keeper } = startKeeper();
  keeper.happened(object('new', '20'));
  keeper.deleted(object('old', '10'));
  assert.equal(cache.get('n/a')?.uid, 'new');
  keeper.deleted(object('new', '21'));
  assert.equal(cache.get('n/a'), undefined);
});

test('record keeper: a watch does not go back, a list may (OPR-23, OPR-14)', () => {
  const { cache, keeper } = startKeeper();
  keeper.happened(object('one', '20'));
  keeper.happened(object('one', '9'));
  assert.equal(cache.get('n/a')?.resourceVersion, '20');
  keeper.listed(object('one', '9'));
  assert.equal(cache.get('n/a')?.resourceVersion, '9', 'the store was set back');
});

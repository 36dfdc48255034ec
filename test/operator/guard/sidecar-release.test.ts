import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowedRelease, closestDifferences, containerDifferences, equal, volumeAllowed } from '#operator/guard/sidecar-release.ts';
import { sizeClasses } from '#operator/settings.ts';
import { injectedPod, release, sizes } from './guarded-cluster.ts';

const allowed = allowedRelease(release, sizes);

test('sidecar release: quantities are written as the API server stores them', () => {
  const { sizes: stored } = allowedRelease(release, sizeClasses('a=1000m/1500m/1024Mi/1536Mi,b=0m/2000m/0Mi/1048576Mi'));
  assert.deepEqual(stored, {
    a: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1500m', memory: '1536Mi' } },
    b: { requests: { cpu: '0', memory: '0' }, limits: { cpu: '2', memory: '1Ti' } },
  });
});

test('sidecar release: an unknown field is a difference, and a missing one too', () => {
  const container = injectedPod().spec.initContainers[0];
  assert.deepEqual(containerDifferences(container, allowed), []);
  assert.deepEqual(containerDifferences({ ...container, fieldOfTomorrow: true }, allowed), ['fieldOfTomorrow']);
  const { restartPolicy: _restartPolicy, ...without } = container;
  assert.deepEqual(containerDifferences(without, allowed), ['restartPolicy']);
});

test('sidecar release: resources of the node may stand beside ours; ours, devices and claims may not differ (INJ-12)', () => {
  const container = injectedPod().spec.initContainers[0];
  const { requests, limits } = container.resources;
  const differences = (resources: object) => containerDifferences({ ...container, resources }, allowed);
  const storage = { 'ephemeral-storage': '1Gi' };
  assert.deepEqual(differences({ requests: { ...requests, ...storage }, limits: { ...limits, ...storage } }), []);
  assert.deepEqual(differences({ requests, limits: { ...limits, ...storage } }), []);
  for (const wrong of [
    { requests: storage, limits },
    { requests, limits: { ...limits, memory: '1Mi', ...storage } },
    { requests, limits: { ...limits, 'example.com/device': '1' } },
    { requests, limits, claims: [{ name: 'device' }] },
    { requests },
    null,
  ])
    assert.deepEqual(differences(wrong as object), ['resources']);
});

test('sidecar release: the differences told are those from the release it resembles most', () => {
  const other = allowedRelease({ ...release, image: `r@sha256:${'c'.repeat(64)}`, control: 'other:1' }, sizes);
  const container = { ...injectedPod().spec.initContainers[0], tty: true };
  assert.deepEqual(closestDifferences(container, [other, allowed]), ['tty']);
  assert.deepEqual(closestDifferences({ name: 'postern' }, []), ['name']);
});

test('sidecar release: a credentials volume names keys of reserved Secrets, each in a folder of its Secret', () => {
  const [credentials] = injectedPod().spec.volumes;
  assert.equal(volumeAllowed(credentials, [allowed]), true);
  const broken = structuredClone(credentials);
  broken.projected.sources[0].secret.items[0].path = '../identity/token';
  assert.equal(volumeAllowed(broken, [allowed]), false);
});

test('equal: JSON values, whatever the order of their keys', () => {
  assert.equal(equal({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }), true);
  for (const [one, other] of [
    [{ a: 1 }, { a: 1, b: 2 }],
    [[1], [1, 2]],
    [[], {}],
    [null, {}],
    [1, '1'],
  ] as const)
    assert.equal(equal(one, other), false);
});

/** Goal: what `kubectl postern audit` tells of sessions and their chains. Method: a real kube-apiserver with the CRDs, chains on disk. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeSigningKey, verifierText } from '#core/audit/signed-note.ts';
import { ChainRig } from '#test/core/audit/chain-rig.ts';
import { unavailable } from '#test/servers/build.ts';
import { writeChain } from './audit-rig.ts';
import { plugin, put, running, startRig, stopRig, UID } from './cluster-rig.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
const authority = makeSigningKey('postern.dev/authority/test');
const folder = mkdtempSync(join(tmpdir(), 'postern-cluster-audit-'));
const root = '/apis/postern.dev/v1alpha1/namespaces/audited';

function chainOf(pod: string): ChainRig {
  const rig = new ChainRig(`postern.dev/audit/test/audited/${pod}`, authority).beginEpoch().records(2).checkpoint();
  writeChain(join(folder, 'all', pod), rig);
  return rig;
}

async function session(rig: ChainRig): Promise<void> {
  const name = rig.origin.split('/').at(-1) ?? '';
  const spec = { pod: { name, uid: UID }, serviceAccount: 'bot', node: 'n1', image: 'agent:1' };
  const head = { sequence: rig.last, hash: `sha256:${Buffer.from(rig.previous).toString('hex')}` };
  await put(
    'agentsessions',
    name,
    spec,
    { state: 'Active', head, audit: { mode: 'Shipped', origin: rig.origin, key: verifierText(authority) } },
    root,
  );
}

const verify = (...args: readonly string[]) => plugin(['audit', 'verify', '-n', 'audited', ...args]);

before(
  async () => {
    if (skip !== false) return;
    await startRig();
    await running().request('POST', '/api/v1/namespaces', { metadata: { name: 'audited' } });
    await session(chainOf('pod-a'));
    await session(chainOf('pod-b'));
    chainOf('pod-gone');
  },
  { timeout: 120_000 },
);
after(async () => {
  await stopRig();
  rmSync(folder, { recursive: true });
});

test('kubectl postern audit key: prints the key that the sessions show, once', { skip }, async () => {
  const { code, out } = await plugin(['audit', 'key', '-n', 'audited']);
  assert.deepEqual([code, out], [0, `${verifierText(authority)}\n`]);
  const none = await plugin(['audit', 'key', '-n', 'triage']);
  assert.deepEqual([none.code, none.out], [1, '']);
});

test('kubectl postern audit verify: holds each chain against the head of its session, and names a chain without one', {
  skip,
}, async () => {
  const { code, out } = await verify(join(folder, 'all'));
  assert.equal(code, 0, out);
  assert.match(out, /session: audited\/pod-a\nchain \S+pod-a\nverified: 6 records\n[\s\S]*?signature: valid to sequence 5/);
  assert.match(out, /pod-b\n[\s\S]*?tail: nothing is missing up to sequence 6/);
  assert.match(out, /session: none\nchain \S+pod-gone\n[\s\S]*no session here has this chain/);
  assert.match(out, /3 checked, 0 bad/);
});

test('kubectl postern audit verify: a chain that is gone, and one that was cut, are bad (AUD-01, AUD-02)', { skip }, async () => {
  const cut = join(folder, 'cut');
  cpSync(join(folder, 'all', 'pod-a'), join(cut, 'pod-a'), { recursive: true });
  const short = new ChainRig('postern.dev/audit/test/audited/pod-a', authority).beginEpoch().records(1);
  writeFileSync(join(cut, 'pod-a', '0000000001.seg'), short.files[0] ?? '');
  const { code, out } = await verify(cut);
  assert.equal(code, 1);
  assert.match(out, /session: audited\/pod-a\n[\s\S]*?chain: valid\n[\s\S]*?tail: TRUNCATED: head witnessed 6, found 4/);
  assert.match(out, /session: audited\/pod-b\n[\s\S]*?tail: MISSING: head witnessed 6, found no chain/);
  const json = JSON.parse((await verify('-o', 'json', cut)).out) as { good: boolean }[];
  assert.deepEqual(
    json.map(({ good }) => good),
    [false, false],
  );
});

test('kubectl postern audit verify: counts chains of other namespaces, and shows them with -A alone', { skip }, async () => {
  const own = join(folder, 'mixed');
  cpSync(join(folder, 'all'), own, { recursive: true });
  writeChain(join(own, 'elsewhere'), new ChainRig('postern.dev/audit/test/billing/pod-z', authority).beginEpoch().records(1));
  const { code, out, err } = await verify(own);
  assert.deepEqual([code, out.includes('billing')], [0, false], out);
  assert.match(err, /^1 chains of other namespaces are here and not shown/m);
  assert.match((await plugin(['audit', 'verify', '-A', own])).out, /chain postern\.dev\/audit\/test\/billing\/pod-z/);
});

test('kubectl postern audit verify: another authority than the one that is named does not answer for the keys (AUD-04)', {
  skip,
}, async () => {
  const { code, out } = await verify('--key', verifierText(makeSigningKey('postern.dev/authority/other')), join(folder, 'all'));
  assert.equal(code, 1);
  assert.match(out, /signature: INVALID/);
});

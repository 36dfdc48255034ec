/** What one approved effect costs the API server, and that approvals which are over cost a replica next to nothing. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeCardFacts } from '#core/approval/decode-card-facts.ts';
import type { ApprovalRegister, RegisterMeans } from '#operator/approval/register.ts';
import { approvalRecord } from '#operator/kube/records.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { unavailable } from '#test/servers/build.ts';
import { type Approval, EffectRig, type Stage } from './effect-rig.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
let effects: EffectRig;
before(
  async () => {
    if (skip === false) effects = await EffectRig.start();
  },
  { timeout: 120_000 },
);
after(() => effects?.[Symbol.asyncDispose]());

const OLD = 10_000;

/** A register, and what it asked of the API server. */
function counting(): { readonly register: ApprovalRegister; take(): readonly string[] } {
  let seen: string[] = [];
  const client = effects.rig.connection.client as unknown as Record<string, (...parameters: readonly unknown[]) => Promise<unknown>>;
  const counted =
    (name: string) =>
    (...parameters: readonly unknown[]) => {
      seen.push(name);
      return client[name]?.(...parameters);
    };
  const kube = Object.fromEntries(['get', 'create', 'patch', 'delete'].map((name) => [name, counted(name)]));
  const take = () => {
    const taken = seen;
    seen = [];
    return taken;
  };
  return { register: effects.registerOf(effects.near, kube as Partial<RegisterMeans['kube']>), take };
}

/** One approved effect, from its question to its end. */
async function effect(stage: Stage, { register, take }: ReturnType<typeof counting>, version: string) {
  const { own } = stage;
  const who = stage.askerOf(await effects.rig.session(own.agent), own);
  const { name, facts, card } = own.plan({ version, reason: 'the fix of the checkout' });
  const { operationId, contract, argsDigest } = facts;
  const factsJson = encodeCardFacts(facts);
  take();
  const asked = await register.ask(who, { name, plan: { operationId, factsJson, cardDigest: card.digest }, alternatives: [] });
  assert.equal(asked.kind, 'waiting');
  const ask = take();
  await stage.decide(name, { verdict: 'Approved' });
  const startMs = performance.now();
  const answer = await register.admit(
    who,
    { plan: { operationId, factsJson, cardDigest: '' }, holds: true, approval: name },
    () => undefined,
  );
  const admitMs = performance.now() - startMs;
  assert.equal(answer, 'admitted');
  const admit = take();
  await register.settle(who, { operationId, contract, argsDigest, end: 'done' });
  return { ask, admit, settle: take(), admitMs };
}

const median = (values: readonly number[]) => values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;

test('cost: an approved effect is six requests of a replica, three of them between the call and the first byte', { skip }, async (t) => {
  const stage = await effects.stage('cost');
  const counted = counting();
  const { ask, admit, settle } = await effect(stage, counted, '0.0.0');
  assert.deepEqual([ask, admit, settle], [['create'], ['create', 'get', 'patch'], ['get', 'delete']]);
  const admits: number[] = [];
  const creates: number[] = [];
  const { client } = effects.rig.connection;
  for (let round = 1; round <= 40; round += 1) {
    const { admitMs } = await effect(stage, counted, `1.${round}.0`);
    admits.push(admitMs);
    const [question] = await stage.list();
    const { apiVersion, kind, spec } = question as Approval;
    const object = { apiVersion, kind, metadata: { name: `bare-${round}`, namespace: stage.namespace }, spec };
    const startMs = performance.now();
    await client.create(KINDS.approvals, object);
    creates.push(performance.now() - startMs);
    await client.delete(KINDS.approvals, { namespace: stage.namespace, name: `bare-${round}` });
  }
  const ratio = median(admits) / median(creates);
  t.diagnostic(`admit ${median(admits).toFixed(1)} ms, a bare create ${median(creates).toFixed(1)} ms, ratio ${ratio.toFixed(1)}`);
});

test(`cost: ${OLD} approvals of the account that are over change no request of an effect, and are small in memory`, { skip }, async (t) => {
  const stage = await effects.stage('crowded');
  const counted = counting();
  const fresh = await effect(stage, counted, '0.0.0');
  const plan = stage.own.plan({ version: '1.0.0', reason: 'long ago' });
  await stage.own.ask(plan);
  const like = await stage.get(plan.name);
  const { approvals } = effects.near.cluster;
  for (let index = 0; index < OLD; index += 1) {
    const id = String(index).padStart(26, '0');
    const metadata = { ...like.metadata, name: `hold-${id}`, uid: `old-${id}`, resourceVersion: '1' };
    const spec = { ...like.spec, purpose: 'Resolve', operationId: `op_${id}`, expiresAt: '2026-01-01T00:00:00Z' } as const;
    approvals.put(approvalRecord({ ...like, metadata, spec }));
  }
  const crowded = await effect(stage, counted, '2.0.0');
  assert.deepEqual([crowded.ask, crowded.admit, crowded.settle], [fresh.ask, fresh.admit, fresh.settle]);
  const kept = [...approvals.values()].find(({ name }) => name.startsWith('hold-0')) as object;
  const bytes = Buffer.byteLength(JSON.stringify(kept));
  t.diagnostic(`a record is ${bytes} bytes as JSON, its card was ${Buffer.byteLength(like.spec.card)}`);
  assert.ok(!JSON.stringify(kept).includes(like.spec.card), 'cards are not kept');
  assert.ok(bytes < 2_048, `${bytes} bytes`);
});

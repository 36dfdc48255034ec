/**
 * Calls in random orders against a remote, a journal and a recorder with faults: whatever comes, no byte of an effect leaves without a gate
 * decision and a durable intent before it, and no operation has two effects (APR-16, promises P2 and P4).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '#core/bounds/clock.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Decider } from '#sidecar/approval/decider.ts';
import { LocalDecider } from '#sidecar/approval/local-decider.ts';
import type { Journal } from '#sidecar/journal/journal.ts';
import { sendJson } from '#test/flow/stage.ts';
import { MemoryJournal } from '#test/sidecar/journal/memory-journal.ts';
import { ASKED, FREE, READ_NOTE, type Rig, startRig, writeContract } from './effect-rig.ts';

const CONTRACTS = {
  free: FREE,
  asked: ASKED,
  session: writeContract('  approval: {mode: Session, calls: 2, vary: [/text]}\n  idempotency: {mode: Natural}'),
  keyed: writeContract('  approval: {mode: None, because: a test}\n  idempotency: {mode: Key, header: Idempotency-Key, ttl: 1h}'),
  'read-note': READ_NOTE,
};
const ACTIONS = ['free', 'asked', 'session', 'keyed'] as const;

type Step =
  | { readonly rpc: 'execute' | 'prepare'; readonly action: (typeof ACTIONS)[number]; readonly text: string; readonly leave: boolean }
  | { readonly rpc: 'executeAgain' | 'confirm' | 'approve' | 'deny' | 'resolve' | 'get'; readonly which: number }
  | { readonly rpc: 'read' | 'list' | 'change' | 'restart' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    rpc: fc.constantFrom('execute', 'prepare'),
    action: fc.constantFrom(...ACTIONS),
    text: fc.constantFrom('a', 'b'),
    leave: fc.boolean(),
  }) as fc.Arbitrary<Step>,
  fc.record({
    rpc: fc.constantFrom('executeAgain', 'confirm', 'approve', 'approve', 'deny', 'resolve', 'get'),
    which: fc.nat(7),
  }) as fc.Arbitrary<Step>,
  fc.record({ rpc: fc.constantFrom('read', 'list', 'change', 'restart') }) as fc.Arbitrary<Step>,
);

/** By the number of the request, or of the write: what goes wrong there. */
interface Faults {
  readonly replies: readonly ('ok' | 'lost' | 'refused' | 'failed')[];
  readonly writes: readonly boolean[];
}
const faults: fc.Arbitrary<Faults> = fc.record({
  replies: fc.array(fc.constantFrom('ok', 'ok', 'lost', 'refused', 'failed'), { minLength: 1, maxLength: 9 }),
  writes: fc.array(
    fc.boolean().map((bad) => !bad),
    { minLength: 5, maxLength: 40 },
  ),
});

/** What happened, in the order in which it was complete. */
interface Witness {
  readonly admitted: Set<string>;
  readonly intents: string[];
}

/** The journal, with writes that fail; an intent counts once it has resolved. */
function witnessed(journal: Journal, witness: Witness, fails: () => boolean): Journal {
  const refuse = () => Promise.reject(new PosternError('AUDIT_UNAVAILABLE', 'The disk is full.'));
  return new Proxy(journal, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name, target);
      if (typeof method !== 'function') return method;
      if (name === 'intent') {
        return async (operationId: string, index: number) => {
          if (fails()) return refuse();
          await target.intent(operationId, index);
          witness.intents.push(operationId);
        };
      }
      if (name === 'step' || name === 'end' || name === 'begin')
        return (...given: unknown[]) => (fails() ? refuse() : method.apply(target, given));
      return method.bind(target);
    },
  });
}

function counted(decider: Decider, admitted: Set<string>): Decider {
  return new Proxy(decider, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name, target);
      if (typeof method !== 'function') return method;
      if (name !== 'admit') return method.bind(target);
      return async (intent: Parameters<Decider['admit']>[0]) => {
        await target.admit(intent);
        admitted.add(intent.operationId);
      };
    },
  });
}

async function play(steps: readonly Step[], { replies, writes }: Faults): Promise<void> {
  const witness: Witness = { admitted: new Set(), intents: [] };
  const seen: { readonly key: string; readonly body: string; readonly intentsBefore: number }[] = [];
  let request = 0;
  let write = 0;
  const fails = () => {
    write += 1;
    return writes[write % writes.length] === false && write % 3 === 0;
  };
  const journal = new MemoryJournal(systemClock);
  const watched = witnessed(journal, witness, fails);
  const ids: string[] = [];
  const open = (upstream?: Rig['upstream'], keys?: Rig['keys']) =>
    startRig({
      contracts: CONTRACTS,
      journal: watched,
      decider: () => {
        const local = new LocalDecider({ journal, clock: systemClock, reachable: true, contractOf: (name) => contractOf(name) });
        // Its alarms would keep the test from ending.
        people?.close();
        people = local;
        return counted(local, witness.admitted);
      },
      ...(upstream === undefined ? {} : { upstream }),
      ...(keys === undefined ? {} : { keys }),
      answer: ({ method, headers, body }, response) => {
        if (method === 'GET') return sendJson(response, 200, { id: 'one', state: 'open' });
        seen.push({ key: String(headers['idempotency-key'] ?? ''), body, intentsBefore: witness.intents.length });
        request += 1;
        const reply = replies[request % replies.length];
        if (reply === 'lost') return void response.destroy();
        return sendJson(response, reply === 'refused' ? 422 : reply === 'failed' ? 500 : 200, { id: 'one' });
      },
    });
  let people: LocalDecider | undefined;
  let rig = await open();
  const contractOf = (name: string) => rig?.bundle().byContract(name)?.contract;
  const upstream = rig.upstream;
  const remember = (id: string | undefined) => {
    if (id !== undefined && !ids.includes(id)) ids.push(id);
  };
  const tolerated = (thrown: unknown) => {
    const error = PosternError.from(thrown);
    assert.notEqual(error.reason, 'INTERNAL', String((error.cause as Error)?.stack ?? error.stack));
    remember(error.operationId);
  };
  const under: Promise<void>[] = [];
  const begin = (call: Promise<{ operationId?: string; planId?: string }>) => {
    under.push(call.then((told) => remember(told.operationId ?? told.planId), tolerated));
  };
  for (const each of steps) {
    const id = 'which' in each ? (ids[each.which % Math.max(1, ids.length)] ?? '') : '';
    const record = journal.get(id)?.record;
    const question = people?.question(id.replace('_', '-'));
    switch (each.rpc) {
      case 'execute':
      case 'prepare': {
        const leave = new AbortController();
        begin(rig[each.rpc](each.action, { id: 'one', text: each.text }, { signal: leave.signal }));
        if (each.leave) leave.abort();
        break;
      }
      case 'executeAgain':
        if (record !== undefined) begin(rig.execute(record.action, { id: 'one', text: 'a' }, { operationId: id }));
        break;
      case 'confirm':
        begin(rig.confirm(id));
        break;
      case 'approve':
      case 'deny': {
        const verdict = each.rpc === 'approve' ? 'approved' : 'denied';
        if (question !== undefined)
          await people?.decide(question.name, { verdict, cardDigest: question.cardDigest, approver: 'tess', reason: '' }).catch(tolerated);
        break;
      }
      case 'resolve':
        await people?.resolve(id, 'notDone', 'tess').catch(tolerated);
        break;
      case 'get':
        begin(rig.calls.getOperation(id, 0, new AbortController().signal));
        break;
      case 'read':
        begin(rig.execute('read_note', { id: 'one' }));
        break;
      case 'list':
        rig.calls.listOperations();
        break;
      case 'change':
        rig.serve({ ...CONTRACTS, asked: ASKED.replace('/notes/', '/other/') });
        break;
      case 'restart':
        await Promise.all(under);
        await rig[Symbol.asyncDispose]();
        rig = await open(upstream, rig.keys);
        break;
    }
    if (each.rpc !== 'execute') await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(under);
  people?.close();
  await rig[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();

  // One intent more for every request, and it was durable when the request came.
  seen.forEach(({ intentsBefore }, index) => {
    assert.ok(intentsBefore > index, `request ${index} came with ${intentsBefore} intents before it`);
  });
  for (const operationId of witness.intents) assert.ok(witness.admitted.has(operationId), `${operationId} was not admitted`);
  const repeatable = new Set(
    journal
      .list()
      .filter(({ record }) => record.idempotency !== 'None')
      .map(({ record }) => record.operationId),
  );
  const counts = new Map<string, number>();
  for (const operationId of witness.intents) counts.set(operationId, (counts.get(operationId) ?? 0) + 1);
  for (const [operationId, count] of counts)
    assert.ok(count === 1 || repeatable.has(operationId), `${operationId} was sent ${count} times`);
  for (const { key } of seen) if (key !== '') assert.ok(journal.get(key) !== undefined, 'a key is an operation of ours');
}

test('effects: in any order of calls, with any faults, every request has a decision and a durable intent before it, and none is sent twice (APR-16)', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), faults, play), { numRuns: 60, endOnFailure: true });
});

/**
 * The link over many streams: replicas that die, operators that refuse or break the protocol, a partition. Method: real servers; time is
 * real and short, and nothing waits for more than an outcome.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { before, test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { ControlRefusal } from '#core/wire/control-refusal.ts';
import { State } from '#proto/postern/control/v1/control_pb.ts';
import { PROTOCOLS } from '#sidecar/control/stream.ts';
import { type FakeOperatorOptions, pinOfPem, replicaCertificate, startFakeOperator } from '#test/fakes/operator.ts';
import { eventually } from '#test/flow/controlled-stage.ts';
import { type Authority, createAuthority } from '#test/servers/certificates.ts';
import { startLink } from './link-rig.ts';

let authority: Authority;
let pin: string;

before(async () => {
  authority = await createAuthority();
  pin = pinOfPem(authority.caPem);
});

async function replica(options: Partial<FakeOperatorOptions> = {}) {
  return startFakeOperator({ certificate: await replicaCertificate(authority), heartbeatMs: 200, ...options });
}

test('link: with two replicas behind one name, the death of one leads to the other', async () => {
  await using one = await replica({ host: '127.0.0.2' });
  await using two = await replica({ host: '127.0.0.3', port: one.port });
  await using link = startLink({ port: one.port, pin, host: 'operator.test' }, { resolve: async () => ['127.0.0.2', '127.0.0.3'] });
  await one.stream(0);
  const [first] = one.streams;
  await one[Symbol.asyncDispose]();
  const second = await two.stream(0);
  assert.equal(second.hello.instance, first?.hello.instance);
  await eventually(async () => link.welcomes === 2, 'the second welcome');
});

test('link: a name that resolves to new addresses later is asked again at each connection', async () => {
  await using one = await replica();
  let known = false;
  await using link = startLink(
    { port: one.port, pin, host: 'operator.test' },
    { resolve: async () => (known ? ['127.0.0.1'] : Promise.reject(new Error('NXDOMAIN'))) },
  );
  await link.ended('name_unresolved');
  known = true;
  await one.stream(0);
});

test('link: a partition that drops every packet is found by the silence, and the next replica is tried (OPR-04)', async () => {
  await using far = await replica({ host: '127.0.0.2' });
  await using near = await replica({ host: '127.0.0.3', port: far.port });
  await using wire = await blackhole(far.port, '127.0.0.2', '127.0.0.4');
  await using link = startLink({ port: far.port, pin, host: 'operator.test' }, { resolve: async () => ['127.0.0.4', '127.0.0.3'] });
  await far.stream(0);
  await eventually(async () => link.messages.length > 0, 'a heartbeat');
  wire.cut();
  await link.ended('silent');
  await near.stream(0);
  await eventually(async () => link.link.connected, 'the welcome of the other replica');
});

test('link: a replica that takes the connection and says nothing is given up', { timeout: 60_000 }, async () => {
  await using silent = await mute();
  const clock = { ...systemClock, alarm: (ms: number, ring: () => void) => systemClock.alarm(Math.min(ms, 300), ring) };
  await using link = startLink({ port: silent.port, pin }, { clock });
  await link.ended('unreachable');
});

test('link: an operator that refuses is asked again and again, no more often than the waits allow, and leaves no file open (OPR-07, OPR-18)', async () => {
  let refusals = 0;
  await using operator = await replica({
    admit: () => {
      refusals += 1;
      throw new ControlRefusal('TOO_MANY', 'Later.');
    },
  });
  const waits: number[] = [];
  const clock = {
    ...systemClock,
    sleep: (ms: number, signal?: AbortSignal) => {
      waits.push(ms);
      return systemClock.sleep(1, signal);
    },
  };
  await using link = startLink({ port: operator.port, pin }, { clock, random: () => 0.999 });
  await eventually(async () => refusals >= 10, 'ten refusals');
  const before = openFiles();
  await eventually(async () => refusals >= 110, 'a hundred more');
  assert.ok(openFiles() <= before + 10, `${openFiles()} files are open, ${before} were`);
  assert.ok(link.ends.every((end) => end === 'TOO_MANY'));
  assert.deepEqual(
    waits.slice(0, 9).map((ms) => Math.round(ms / 100)),
    [3, 5, 10, 20, 40, 80, 160, 300, 300],
  );
});

const BROKEN: readonly (readonly [what: string, end: 'protocol_broken' | 'version_unsupported', options: Partial<FakeOperatorOptions>])[] =
  [
    ['a first message that is no welcome', 'protocol_broken', { welcome: { case: 'renewal', value: { leaseMs: 1n } } }],
    [
      'a second welcome',
      'protocol_broken',
      { greeting: () => [{ case: 'welcome', value: { session: 's', namespace: 'n', protocol: 1, heartbeatMs: 1000n } }] },
    ],
    [
      'a version of the protocol that nobody offered',
      'version_unsupported',
      { welcome: { case: 'welcome', value: { session: 's', namespace: 'n', protocol: Math.max(...PROTOCOLS) + 1, heartbeatMs: 1000n } } },
    ],
  ];

for (const [what, end, options] of BROKEN) {
  test(`link: ${what} ends the stream as ${end}`, async () => {
    await using operator = await replica(options);
    await using link = startLink({ port: operator.port, pin });
    await link.ended(end);
  });
}

test('link: the token is read again for each connection, and no connection is made without one (OPR-15)', async () => {
  await using operator = await replica();
  await using link = startLink({ port: operator.port, pin });
  const first = await operator.stream(0);
  link.writeToken('second-token\n');
  first.end();
  assert.equal((await operator.stream(1)).authorization, 'Bearer second-token');
  for (const bad of ['', 'two\r\nlines', 'x'.repeat(20_000)]) {
    const ends = link.ends.length;
    link.writeToken(bad);
    operator.streams.at(-1)?.end();
    await eventually(async () => link.ends.slice(ends).includes('token_unreadable'), 'a token that is refused');
    const streams = operator.streams.length;
    link.writeToken('good-again');
    assert.equal((await operator.stream(streams)).authorization, 'Bearer good-again');
  }
});

test('link: what an operator says is handed on at once and in order, and its refusal is a word of the closed set', async () => {
  await using operator = await replica();
  await using link = startLink({ port: operator.port, pin });
  const stream = await operator.stream(0);
  await stream.send({ case: 'session', value: { state: State.SUSPENDED } });
  await stream.send({ case: 'session', value: { state: State.ACTIVE } });
  await eventually(async () => link.messages.filter(({ case: kind }) => kind === 'session').length === 2, 'both states');
  const states = link.messages.flatMap((message) => (message.case === 'session' ? [message.value.state] : []));
  assert.deepEqual(states, [State.SUSPENDED, State.ACTIVE]);
  stream.end(new ControlRefusal('DUPLICATE_SIDECAR', 'secret words of an operator'));
  await link.ended('DUPLICATE_SIDECAR');
  assert.doesNotMatch(JSON.stringify(link.lines), /secret words/);
});

function openFiles(): number {
  return readdirSync('/proc/self/fd').length;
}

/** A relay that, once cut, takes every byte and passes none on, in both directions, without closing anything. */
async function blackhole(port: number, to: string, host: string) {
  const sockets = new Set<Socket>();
  let passing = true;
  const server = createServer((near) => {
    const far = createConnection({ host: to, port });
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => passing && into.write(bytes));
      from.on('error', () => {});
      from.on('close', () => passing && into.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return {
    cut: () => {
      passing = false;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function mute() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import type { Exchange } from '#core/completeness/exchange.ts';
import { RemoteStatuses } from '#sidecar/call/remote-statuses.ts';
import type { Remote } from '#sidecar/execute/remote.ts';

const reply = (method: string, answer: object): Exchange =>
  ({ sent: { method, path: '/', query: {}, headers: {}, body: null }, reply: { receivedAtMs: 0, ...answer } }) as unknown as Exchange;

async function countsOf(exchanges: readonly Exchange[]): Promise<RemoteStatuses['counts']> {
  const left = [...exchanges];
  const remote: Remote = { ask: async () => left.shift() as Exchange };
  const statuses = new RemoteStatuses();
  const watched = statuses.watch(remote);
  for (const exchange of exchanges) assert.equal(await watched.ask({} as never, {} as never, {} as never), exchange);
  return statuses.counts;
}

test('remote statuses: HTTP statuses, exits, signals and missing answers are counted by name', async () => {
  const http = (status: number) => reply('GET', { kind: 'reply', status });
  const ssh = (exit?: object) => reply('SSH', { kind: 'reply', status: 0, ...(exit === undefined ? {} : { exit }) });
  const none = reply('GET', { kind: 'noReply', cause: 'timedOut', sent: true });
  const counts = await countsOf([http(200), http(200), http(429), ssh({ code: 1 }), ssh({ signal: 'KILL' }), ssh(), none]);
  assert.deepEqual(counts, { 200: 2, 429: 1, 'exit 1': 1, 'signal KILL': 1, 'no exit status': 1, timedOut: 1 });
});

test('remote statuses: nothing is said where nothing was asked', async () => {
  assert.equal(await countsOf([]), undefined);
});

test('remote statuses: a signal that is no word is not repeated', async () => {
  assert.deepEqual(await countsOf([reply('SSH', { kind: 'reply', status: 0, exit: { signal: 'token=\u001b[2J' } })]), { signal: 1 });
});

test('remote statuses: a remote with ever new statuses makes no long record', async () => {
  const many = Array.from({ length: 200 }, (_, index) => reply('GET', { kind: 'reply', status: 400 + index }));
  const counts = (await countsOf(many)) ?? {};
  assert.equal(Object.keys(counts).length, limits.auditRemoteStatusesMax + 1);
  assert.equal(counts.other, 200 - limits.auditRemoteStatusesMax);
});

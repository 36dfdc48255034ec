/**
 * Ships the files of a folder to a store, as a process of its own that a test can kill: `FOLDER ADDRESS ORIGIN KILL`. The files are the
 * segments in order; giving one back removes it. KILL: dies by SIGKILL when the so-manieth is stored and not yet given back; 0: never.
 */
import { hash } from 'node:crypto';
import { readdirSync, readFileSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { parseStoreAddress } from '#core/audit/store-address.ts';
import { systemClock } from '#core/bounds/clock.ts';
import { openStore } from '#core/runtime/open-store.ts';
import { createOwnSink } from '#sidecar/audit/own-sink.ts';
import { openShippedList } from '#sidecar/audit/shipped-list.ts';
import { Shipper } from '#sidecar/audit/shipper.ts';

const [folder = '', address = '', origin = '', kill = '0'] = process.argv.slice(2);
const BEGAN_MS = Date.UTC(2026, 10, 30);
const numbers = readdirSync(folder)
  .flatMap((name) => (name.endsWith('.seg') ? [Number.parseInt(name, 10)] : []))
  .sort((a, b) => a - b);
const left = new Map(
  numbers.map((number) => {
    const bytes = readFileSync(join(folder, `${number}.seg`));
    const sequences = { firstSequence: 10 * number - 9, lastSequence: 10 * number };
    return [number, { number, ...sequences, bytes: bytes.length, sha256: hash('sha256', bytes, 'buffer'), openedMs: BEGAN_MS + number }];
  }),
);
let stored = 0;
const list = await openShippedList(join(folder, 'shipped.jsonl'), origin);
const store = await openStore(parseStoreAddress(address), { clock: systemClock, env: process.env });
const shipper = new Shipper({
  segments: {
    closed: () => [...left.values()],
    read: async ({ number }) => readFileSync(join(folder, `${number}.seg`)),
    shipped: async ({ number }) => {
      stored += 1;
      if (stored === Number(kill)) process.kill(process.pid, 'SIGKILL');
      unlinkSync(join(folder, `${number}.seg`));
      left.delete(number);
    },
    onClosed: () => () => {},
    closeSegment: async () => {},
    unshippedBytes: 0,
    oldestUnshippedMs: undefined,
  },
  sink: createOwnSink(store, origin),
  list,
  origin,
  clock: systemClock,
});
const end = await shipper.end(120_000);
process.stdout.write(`${JSON.stringify(end)}\n`);

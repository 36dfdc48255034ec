/**
 * `direct.cjs WORKERS CALLS MILLISECONDS ORIGIN TOKEN`: no server at all, undici in a closed loop. Its CPU is that of the client.
 * Prints what the load generator prints.
 */
import { drive, print } from './closed-loop.ts';
import { upstreamRead } from './upstream-read.ts';

const [workers = 1, callsMax = 1, msMax = 1] = process.argv.slice(2, 5).map(Number);
const [origin = '', token = ''] = process.argv.slice(5);
const read = upstreamRead(origin, token);

async function call(): Promise<void> {
  const bytes = await read('42');
  if (!bytes.includes('item-0001')) throw new Error('not the answer');
}

async function main(): Promise<void> {
  await drive(call, { workers, callsMax, msMax: Math.min(1000, msMax) });
  const before = process.cpuUsage();
  const driven = await drive(call, { workers, callsMax, msMax });
  const { user, system } = process.cpuUsage(before);
  print(driven, user + system, Math.round(process.memoryUsage.rss() / 1024));
  process.exit(0);
}

void main();

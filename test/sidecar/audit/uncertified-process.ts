/** A chain in FOLDER whose authority never answers, as a process of its own that a test can kill: says `durable` once a record is. */

import { systemClock } from '#core/bounds/clock.ts';
import { AuditChain } from '#sidecar/audit/chain.ts';
import { entry } from './chain-stage.ts';

const [folder = '', origin = '', recipient = ''] = process.argv.slice(2);
const chain = await AuditChain.open({
  folder,
  clock: systemClock,
  authority: { certify: () => new Promise(() => {}) },
  terms: { origin, recipients: [recipient] },
});
await chain.append(entry());
process.stdout.write('durable\n');
setInterval(() => {}, 60_000);

/**
 * Writes a chain, as a process of its own whose system calls a test can spoil: `FOLDER STORE`. Appends, rotates, changes recipients, closes
 * and ships segments (each a file of STORE), ends. Tells every step on its standard output before or after it, as `word argument…` lines.
 * Exit code 0: to its end; 3: the chain did not open.
 */
import { existsSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditChain } from '#sidecar/audit/chain.ts';
import { entry, makeAuthority, makeIdentity, openChain } from '#test/sidecar/audit/chain-stage.ts';

const [folder = '', store = ''] = process.argv.slice(2);
const RECORDS = 14;
/** Shorter than any hang of the test; a record that is late for another reason is asked for again. */
const APPEND_MS = 1_500;
/** Of every file of a log that a scenario makes. */
const WAL_SEGMENT_BYTES = 6_000;

function tell(...words: readonly (string | number)[]): void {
  writeSync(1, `${words.join(' ')}\n`);
}

let next = 0;

function freshId(): string {
  next += 1;
  return `op_${`${process.pid}x${next}`.padStart(26, '0')}`;
}

async function append(chain: AuditChain): Promise<void> {
  for (;;) {
    const operationId = freshId();
    tell('asked', operationId);
    const recorded = await chain.append({ ...entry('x'), operationId }).catch((error) => tell('refused', operationId, error.reason));
    if (recorded !== undefined) {
      tell('taken', operationId, recorded.sequence);
      return;
    }
    await sleep(100);
  }
}

async function ship(chain: AuditChain): Promise<void> {
  for (const segment of chain.closed()) {
    const bytes = await chain.read(segment).catch(() => undefined);
    if (bytes === undefined) return;
    const path = join(store, `${segment.number}.seg`);
    if (existsSync(path) && !readFileSync(path).equals(bytes)) tell('differs', segment.number);
    writeFileSync(`${path}.part`, bytes);
    renameSync(`${path}.part`, path);
    tell('shipped', segment.number, bytes.length);
    await chain.shipped(segment);
  }
}

const authority = makeAuthority();
const chain = await openChain(folder, {
  authority: {
    ...authority,
    witness: (note) => {
      tell('head', Buffer.from(note).toString('base64'));
      return authority.witness(note);
    },
  },
  bounds: { auditSegmentBytes: 2_500, walSegmentBytes: WAL_SEGMENT_BYTES, walAppendMs: APPEND_MS, auditCheckpointRecords: 3 },
}).catch((error) => {
  tell('unopened', error.reason, JSON.stringify(error.details));
  process.exit(3);
});
for (let index = 1; index <= RECORDS; index += 1) {
  await append(chain);
  if (index === 4) chain.recipients([makeIdentity().recipient]);
  if (index === 7) await chain.closeSegment().catch(() => undefined);
  if (index === 9 || index === 12) await ship(chain);
}
await chain.end().then(
  () => tell('ended'),
  () => tell('unended'),
);
await chain.close();
process.exit(0);

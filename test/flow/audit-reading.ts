/** What stands in the chains below a folder, decrypted: each record with its sequence and the head it has in clear. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Decrypter } from 'age-encryption';
import { decodeFrame, type Head } from '#core/audit/frame.ts';
import type { WrittenRecord } from '#core/audit/record.ts';
import { parseRecord } from '#core/audit/record-line.ts';

export interface ReadRecord {
  readonly sequence: number;
  readonly head: Head;
  readonly record: WrittenRecord;
  readonly line: string;
}

/** All records of the logs in a folder, by sequence. */
export async function readChain(folder: string, identity: string): Promise<readonly ReadRecord[]> {
  const found = new Map<number, ReadRecord>();
  for (const name of readdirSync(folder).toSorted()) {
    if (!/\.(?:wal|seg)$/.test(name)) continue;
    for (const read of await readFrames(readFileSync(join(folder, name)), identity)) found.set(read.sequence, read);
  }
  return [...found.values()].toSorted((one, other) => one.sequence - other.sequence);
}

/** Of all frames anywhere in some bytes: those of a segment, or of a log. */
async function readFrames(bytes: Buffer, identity: string): Promise<readonly ReadRecord[]> {
  const records: ReadRecord[] = [];
  for (let at = bytes.indexOf(MAGIC); at >= 0; at = bytes.indexOf(MAGIC, at + 1)) {
    const frame = decodeFrame(bytes, at);
    if ('no' in frame || frame.form !== 'sealed') continue;
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    const lines = Buffer.from(await decrypter.decrypt(frame.body))
      .toString('utf8')
      .trimEnd()
      .split('\n');
    for (const [index, line] of lines.entries()) {
      const record = parseRecord(line);
      const head = frame.heads[index];
      if (record === undefined || head === undefined) throw new TypeError('a line of a frame is no record');
      records.push({ sequence: frame.sequence + index, head, record, line });
    }
  }
  return records;
}

const MAGIC = Buffer.from([0xf7, 0x50, 0x41, 0x46, 1]);

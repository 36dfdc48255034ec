/** A log in memory that fails when a test says so. */
import { PosternError } from '#core/error/postern-error.ts';
import type { AuditLog, Entry, Recorded } from '#sidecar/audit/audit-log.ts';

export class MemoryLog implements AuditLog {
  readonly entries: Entry[] = [];
  isOff = false;
  fault: string | undefined;

  async append(entry: Entry): Promise<Recorded> {
    if (this.fault !== undefined) throw new PosternError('AUDIT_UNAVAILABLE', 'The disk of the test is full.');
    this.entries.push(entry);
    return { sequence: this.entries.length, frameSequence: this.entries.length, frame: Buffer.from(entry.text) };
  }

  records(): readonly { readonly [name: string]: unknown }[] {
    return this.entries.map(({ text }) => JSON.parse(text));
  }
}

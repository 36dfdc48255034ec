/**
 * Epochs whose key nobody has answered for yet, as the log tells: each begins with a segment that names its key, and is off the list once
 * its certificate is in the log, whichever process asked for it. A verifier takes no epoch behind one of these (FORMAT.md, "Checking" 3).
 *
 * Of records that were given back a file beside the log says what they said; it is written before they go.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Certificate, epochKeyName, parseCertificate } from '#core/audit/checkpoint.ts';
import type { Frame } from '#core/audit/frame.ts';
import { parseNoteBytes, parseVerifier } from '#core/audit/signed-note.ts';
import type { SegmentStatement } from '#core/audit/statement.ts';
import { replaceFile } from './chain-file.ts';

const NAME = 'uncertified';
const LINE = /^([1-9]\d{0,9}) (\S{1,600})$/;

export class UncertifiedEpochs {
  /** Verifier keys, as text, by epoch. */
  readonly #keys = new Map<number, string>();
  #written = '';

  /** What the file says; nothing, where there is none. */
  async read(folder: string): Promise<void> {
    this.#written = await readFile(join(folder, NAME), 'latin1').catch(() => '');
    for (const line of this.#written.split('\n')) {
      const [, epoch, key] = LINE.exec(line) ?? [];
      if (epoch !== undefined && key !== undefined) this.#keys.set(Number(epoch), key);
    }
  }

  /** Before records are given back. Throws what the disk says; nothing may be given back then. */
  async write(folder: string): Promise<void> {
    const text = [...this.#keys].map(([epoch, key]) => `${epoch} ${key}\n`).join('');
    if (text === this.#written) return;
    await replaceFile(join(folder, NAME), text);
    this.#written = text;
  }

  /** A segment begins; its epoch too, if it is the first one of it. */
  segment({ epoch, key, segment, previous_epoch }: SegmentStatement): void {
    if (segment === 1 || previous_epoch !== undefined) this.#keys.set(epoch, key);
  }

  certificate({ body }: Frame): void {
    const certificate = parseCertificate(parseNoteBytes(body)?.text ?? '');
    if (certificate !== undefined) this.#keys.delete(certificate.epoch);
  }

  /** What is to be certified next. */
  oldest(origin: string): Certificate | undefined {
    for (const epoch of [...this.#keys.keys()].sort((a, b) => a - b)) {
      const key = parseVerifier(this.#keys.get(epoch) ?? '');
      if (key?.name === epochKeyName(origin, epoch)) return { origin, epoch, key };
    }
    return undefined;
  }
}

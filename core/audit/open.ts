/**
 * Opens sealed frames for a reader who has an identity (`AGE-SECRET-KEY-1...`): the records as JSON objects, each with its head. The frame
 * itself has been checked before (verify.ts); what was sealed in it may still be anything, since whoever writes a chain seals what they like
 * (AUD-22).
 */
import { Decrypter } from 'age-encryption';
import { limits } from '#core/bounds/limits.ts';
import type { Frame, Head, SealedKind } from './frame.ts';

export interface OpenedRecord {
  readonly sequence: number;
  readonly head: Head<SealedKind>;
  /** One JSON object; `text` as it stands in the chain. */
  readonly record: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/**
 * `identity`: none of the identities opens it. `damaged`: it is no age file, or was changed. Others: what is in it does not fit the heads
 * of its frame. The message is our own and holds nothing of the frame.
 */
export class FrameUnopened extends Error {
  readonly kind: keyof typeof SENTENCES;

  constructor(kind: keyof typeof SENTENCES, sequence: number, cause?: unknown) {
    super(`The frame at sequence ${sequence} cannot be read: ${SENTENCES[kind]}`, cause === undefined ? undefined : { cause });
    this.name = 'FrameUnopened';
    this.kind = kind;
  }
}

/** A text that is no identity of age. */
export class IdentityUnusable extends Error {}

export interface FrameOpener {
  /** Throws FrameUnopened. Holds one frame in memory. */
  open(frame: Frame): Promise<readonly OpenedRecord[]>;
}

const SENTENCES = {
  statement: 'it is a statement, and is not sealed.',
  identity: 'none of the identities is of a recipient of its segment; name the right one.',
  damaged: 'it is not what a sidecar seals.',
  count: 'it holds more or fewer records than its heads say.',
  records: 'a record in it is not a line with a JSON object.',
  large: 'a record in it is longer than any.',
} as const;

/** `identities`: texts, such as the lines of a key file. Throws IdentityUnusable, without the text: it is a secret. */
export function createFrameOpener(identities: readonly string[]): FrameOpener {
  const decrypter = new Decrypter();
  try {
    for (const identity of identities) decrypter.addIdentity(identity);
  } catch {
    throw new IdentityUnusable('An identity is a line AGE-SECRET-KEY-1..., as age-keygen writes it.');
  }
  return {
    open: async (frame) => {
      const { sequence, heads, body } = frame;
      if (frame.form !== 'sealed') throw new FrameUnopened('statement', sequence);
      const text = await textOf(decrypter, body, sequence);
      return recordsOf(text, heads, sequence);
    },
  };
}

/** The identities of a key file: its lines without comments. */
export function identitiesOf(file: string): readonly string[] {
  return file.split('\n').flatMap((line) => (line.trim() === '' || line.startsWith('#') ? [] : [line.trim()]));
}

async function textOf(decrypter: Decrypter, body: Uint8Array, sequence: number): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = await decrypter.decrypt(body);
  } catch (cause) {
    // The library's one sentence for a file that is whole and for somebody else.
    throw new FrameUnopened(cause instanceof Error && /identit/i.test(cause.message) ? 'identity' : 'damaged', sequence, cause);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new FrameUnopened('records', sequence);
  }
}

function recordsOf(text: string, heads: readonly Head[], sequence: number): readonly OpenedRecord[] {
  // One more than there may be: a body of line feeds alone does not become half a million strings.
  const lines = text.split('\n', heads.length + 2);
  if (lines.length !== heads.length + 1 || lines.at(-1) !== '') throw new FrameUnopened('count', sequence);
  return heads.map((head, index) => {
    const line = lines[index] ?? '';
    if (Buffer.byteLength(line) > limits.auditRecordBytesMax) throw new FrameUnopened('large', sequence + index);
    return { sequence: sequence + index, head: head as Head<SealedKind>, record: objectOf(line, sequence + index), text: line };
  });
}

function objectOf(line: string, sequence: number): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Readonly<Record<string, unknown>>;
  } catch {
    // Answered below; the parser's words would show what stands in the line.
  }
  throw new FrameUnopened('records', sequence);
}

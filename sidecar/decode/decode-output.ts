/**
 * From the output of a command to what the rules of a contract may see: masked, decoded, with how it ended and every reason why it cannot
 * be believed to be whole. As for replies over HTTP, masking comes first.
 */
import type { Reply } from '#core/completeness/exchange.ts';
import type { ResultRules } from '#core/contract/compiled.ts';
import { bodyDecoder, type DecodeBody, type Mask, maskStrings } from './decode-reply.ts';
import { decodeText } from './text.ts';

/** What a command wrote and how it ended, before masking and decoding. */
export interface RawOutput {
  /** Standard output, up to the cap. */
  readonly stdout: Uint8Array;
  /** The beginning of the error stream, up to limits.sshStderrBytesMax. */
  readonly stderr: Uint8Array;
  /** Absent: the host did not say how it ended (failure case SSH-06). */
  readonly exit?: { readonly code: number } | { readonly signal: string };
  /** `cut`: the connection or the channel ended before the output did (failure case SSH-07). Absent: it ended by itself. */
  readonly fault?: 'cut' | 'tooLarge';
}

/**
 * - Output over the cap: what came of whole records before it is kept (Lines, NDJSON), and `fault` says that it is not all. Half a document
 *   is none.
 * - No output beside an exit code other than 0 is no document, and no fault: the code says everything, as a status does over HTTP.
 */
export function decodeOutput(raw: RawOutput, rules: ResultRules, mask: Mask, nowMs: number): Reply {
  const stdout = mask.bytes(raw.stdout);
  const stderr = mask.bytes(raw.stderr);
  const decoded = decode(stdout, raw, decoderOf(rules));
  const masked = decoded.value === undefined ? undefined : maskStrings(decoded.value.value, true, mask);
  return {
    kind: 'reply',
    status: 0,
    ...(raw.exit === undefined ? {} : { exit: raw.exit }),
    // Not UTF-8, or cut in the middle of a character: readable all the same.
    stderr: Buffer.from(stderr.buffer, stderr.byteOffset, stderr.byteLength).toString('utf8'),
    headers: NO_HEADERS,
    body: masked?.value,
    ...(decoded.fault === undefined ? {} : { fault: decoded.fault }),
    bytes: raw.stdout.byteLength,
    normalized: decoded.value?.normalized ?? [],
    reflected: stdout !== raw.stdout || stderr !== raw.stderr || masked?.reflected === true,
    receivedAtMs: nowMs,
  };
}

interface DecodedOutput {
  readonly value?: NonNullable<ReturnType<DecodeBody>>;
  readonly fault?: NonNullable<Reply['fault']>;
}

function decode(stdout: Uint8Array, raw: RawOutput, decodeBody: DecodeBody): DecodedOutput {
  const given = raw.fault === undefined ? {} : { fault: raw.fault };
  if (stdout.byteLength === 0 && saysAll(raw)) return given;
  const ended = raw.fault !== undefined;
  const text = decodeText(ended ? wholeLines(stdout) : stdout);
  const value = text === undefined ? undefined : decodeBody(text, ended);
  if (value !== undefined) return { value, ...given };
  return { fault: raw.fault ?? 'undecodable' };
}

function saysAll({ exit }: RawOutput): boolean {
  return exit === undefined || 'signal' in exit || exit.code !== 0;
}

/** Up to the last line end: the line behind it may be cut in the middle of a character. */
function wholeLines(bytes: Uint8Array): Uint8Array {
  const end = bytes.lastIndexOf(LINE_FEED);
  return bytes.subarray(0, end + 1);
}

function decoderOf(rules: ResultRules): DecodeBody {
  let decoder = decoders.get(rules);
  if (decoder === undefined) {
    decoder = bodyDecoder(rules);
    decoders.set(rules, decoder);
  }
  return decoder;
}

/** One for each rules object: they are frozen and live as long as their contract. */
const decoders = new WeakMap<ResultRules, DecodeBody>();
const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze(Object.create(null));
const LINE_FEED = 10;

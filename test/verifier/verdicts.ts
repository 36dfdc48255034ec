/** What both verifiers say of one chain, in the words of the published vectors. */
import { parseHeads } from '#core/audit/heads.ts';
import { parseVerifier } from '#core/audit/signed-note.ts';
import { type ChainVerdict, ChainVerifier, compareSegments, firstSequenceOf } from '#core/audit/verify.ts';
import type { PythonAnswer } from './python-verifier.ts';

export interface Told {
  readonly exit: number;
  readonly records: number;
  readonly broken_at: number | null;
  readonly signature: string;
  readonly signature_at: number | null;
  readonly tail: string;
  readonly clock_skew_at: readonly number[];
}

/** Of the files of one folder. `pieceBytes`: how the bytes come. */
export function verdictOf(
  files: ReadonlyMap<string, Uint8Array>,
  options: { readonly key?: string; readonly heads?: readonly Uint8Array[]; readonly pieceBytes?: number } = {},
): ChainVerdict {
  const key = options.key === undefined ? undefined : parseVerifier(options.key);
  const keys = key === undefined ? [] : [key];
  const heads = (options.heads ?? []).map((note) => {
    const parsed = parseHeads(note, keys);
    if ('unusable' in parsed) throw new Error(parsed.unusable);
    return parsed;
  });
  const verifier = new ChainVerifier({ keys, heads });
  const segments = [...files]
    .filter(([name]) => name.endsWith('.seg'))
    .map(([name, bytes]) => ({ name, bytes: Buffer.from(bytes), firstSequence: firstSequenceOf(Buffer.from(bytes)) }))
    .toSorted(compareSegments);
  for (const { bytes } of segments) {
    if (verifier.isBroken) break;
    verifier.begin(bytes.length);
    const step = options.pieceBytes ?? 65_536;
    for (let at = 0; at < bytes.length; at += step) verifier.push(bytes.subarray(at, at + step));
    verifier.end();
  }
  return verifier.verdict();
}

export function toldByOurs({ good, lastSequence, broken, signature, tail, clockSkews }: ChainVerdict): Told {
  return {
    ...{ exit: good ? 0 : 1, records: lastSequence, broken_at: broken?.sequence ?? null, signature: signature.is, tail: tail.is },
    signature_at: signature.sequence ?? null,
    clock_skew_at: clockSkews.first.map(({ sequence }) => sequence),
  };
}

export function toldByPython(answer: PythonAnswer): Told | undefined {
  const [chain] = answer.chains;
  if (chain === undefined) return undefined;
  const { records, broken_at, signature, signature_at, tail, clock_skew_at } = chain;
  return { exit: answer.code, records, broken_at, signature, signature_at, tail, clock_skew_at };
}

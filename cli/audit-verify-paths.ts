/** What `postern audit verify` does with what it is given: every chain there is checked, and each verdict is printed. */
import { decodeFrame, FRAME_BYTES_MAX } from '#core/audit/frame.ts';
import { type Heads, parseHeads } from '#core/audit/heads.ts';
import { missingAfter, parseManifest } from '#core/audit/manifest.ts';
import { parseVerifier, type VerifierKey } from '#core/audit/signed-note.ts';
import { type ChainVerdict, ChainVerifier } from '#core/audit/verify.ts';
import { limits } from '#core/bounds/limits.ts';
import { asked, chainsAt, noChain, walkSegments } from './audit-chains.ts';
import { readShortFile } from './audit-input.ts';
import type { ChainSource } from './audit-source.ts';
import { type Checked, renderVerdicts, verdictsJson } from './audit-verdict.ts';
import type { VerifyOptions } from './audit-verify.ts';
import { EXIT } from './exit.ts';
import { UsageError } from './report-failure.ts';

export interface Trusted {
  readonly keys: readonly VerifierKey[];
  readonly heads: readonly Heads[];
  /** Why a head was not taken. */
  readonly refused: string | undefined;
}

export async function verifyPaths(paths: readonly string[], options: VerifyOptions): Promise<void> {
  const trusted = await trust(options);
  await using found = await chainsAt(paths);
  const checked = await checkAll(found.chains, trusted);
  if (checked.length === 0) {
    if (options.head.length === 0) throw noChain();
    checked.push({ verifier: new ChainVerifier(trusted), notes: [], place: paths.join(' ') });
  }
  const seen = checked.flatMap(({ verifier }) => verifier.origin ?? []);
  const origins = new Set(seen);
  const verdicts: Checked[] = checked.map(({ verifier, notes, place }) => ({
    place,
    notes:
      seen.filter((origin) => origin === verifier.origin).length > 1
        ? [...notes, `this chain is here more than once; this is ${place}`]
        : notes,
    verdict: withRefusal(verifier.verdict(origins), trusted),
  }));
  process.stdout.write(options.json === true ? verdictsJson(verdicts) : renderVerdicts(verdicts));
  process.exitCode = verdicts.every(({ verdict }) => verdict.good) ? EXIT.complete : EXIT.error;
}

interface CheckedSource {
  readonly verifier: ChainVerifier;
  readonly notes: readonly string[];
  readonly place: string;
}

/** The log of a sidecar goes on where the store of its chain ends: together they are one chain. */
async function checkAll(sources: readonly ChainSource[], trusted: Trusted): Promise<CheckedSource[]> {
  const checked: CheckedSource[] = [];
  for (const source of sources.filter(({ log }) => log === undefined)) checked.push(await check(source, trusted));
  for (const source of sources) {
    if (source.log === undefined) continue;
    const alone = await check(source, trusted);
    const { origin, isBroken } = alone.verifier;
    const at = checked.findIndex(({ verifier }) => origin !== undefined && verifier.origin === origin && !verifier.isBroken);
    const stored = checked[at];
    if (stored === undefined || isBroken) checked.push(alone);
    else checked[at] = await goOnInLog(stored, source.log, alone);
  }
  return checked;
}

async function goOnInLog(stored: CheckedSource, log: string, alone: CheckedSource): Promise<CheckedSource> {
  const { lastSequence } = stored.verifier;
  if (alone.verifier.lastSequence <= lastSequence) return { ...stored, notes: [...stored.notes, `the log ${log} has nothing beyond it`] };
  const { verifyLog } = await import('./audit-log-chain.ts');
  const torn = await verifyLog(log, stored.verifier, lastSequence);
  const notes = [...stored.notes, `what is stored ends at sequence ${lastSequence}; from there on the log ${log} was checked`];
  return { ...stored, notes: torn === 0 ? notes : [...notes, tornNote(torn)] };
}

function tornNote(bytes: number): string {
  return `${bytes} bytes of a write that was never acknowledged stand behind the end; that is no damage`;
}

function withRefusal(verdict: ChainVerdict, { refused }: Trusted): ChainVerdict {
  return refused === undefined ? verdict : { ...verdict, tail: { is: 'INVALID', sentence: `INVALID: ${refused}` }, good: false };
}

export async function trust(options: Pick<VerifyOptions, 'head' | 'key'>): Promise<Trusted> {
  const keys = await Promise.all(options.key.map(keyOf));
  const parsed = await Promise.all(options.head.map(async (given) => parseHeads(await noteOf(given), keys)));
  const refused = parsed.find((head) => 'unusable' in head)?.unusable;
  return { keys, heads: parsed.filter((head) => 'heads' in head), refused };
}

async function keyOf(given: string): Promise<VerifierKey> {
  const literal = parseVerifier(given.trim());
  if (literal !== undefined) return literal;
  const key = parseVerifier((await readShortFile(given, limits.auditNoteBytesMax)).toString('latin1').trim());
  if (key === undefined)
    throw new UsageError('--key is no verifier key.', 'It is name+id+key, or a file with it, as "postern audit key" prints it.');
  return key;
}

/** A note has several lines, which no path has. */
async function noteOf(given: string): Promise<Uint8Array> {
  if (given.includes('\n')) return Buffer.from(given.endsWith('\n') ? given : `${given}\n`, 'utf8');
  return readShortFile(given, limits.auditHeadsBytesMax);
}

export async function check(
  source: ChainSource,
  { keys, heads }: Trusted,
): Promise<Omit<Checked, 'verdict'> & { readonly verifier: ChainVerifier }> {
  const verifier = new ChainVerifier({ keys, heads, anywhere: source.log !== undefined });
  const notes: string[] = [];
  if (source.log === undefined) await walkSegments(source, verifier);
  else {
    const { verifyLog } = await import('./audit-log-chain.ts');
    const torn = await verifyLog(source.log, verifier);
    if (torn > 0) notes.push(tornNote(torn));
    if (verifier.verdict().firstSequence > 1)
      notes.push('this log begins where what was before it was shipped; give the store beside it, and both are checked as one chain');
  }
  notes.push(...(await besideNotes(source, verifier)));
  return { verifier, notes, place: source.place };
}

/** What manifests and kept intents say beyond the end; they prove nothing, and move no verdict. */
async function besideNotes({ beside }: ChainSource, { origin, lastSequence }: ChainVerifier): Promise<readonly string[]> {
  const notes: string[] = [];
  let [kept, farthest] = [0, 0];
  for (const { kind, sequence, read } of beside) {
    if (sequence <= lastSequence) continue;
    const bytes = await asked(() => read(kind === 'intent' ? FRAME_BYTES_MAX : limits.auditManifestBytesMax));
    if (kind === 'manifest') notes.push(manifestNote(bytes, origin, lastSequence));
    else if (bytes !== undefined && isIntent(bytes, sequence)) [kept, farthest] = [kept + 1, Math.max(farthest, sequence)];
  }
  if (kept > 0) notes.push(`${kept} intents were kept beyond the end, to sequence ${farthest}: the tail of this chain is missing`);
  return notes;
}

function manifestNote(bytes: Buffer | undefined, origin: string | undefined, last: number): string {
  const manifest = bytes === undefined ? undefined : parseManifest(bytes);
  if (manifest === undefined) return 'a manifest here cannot be read';
  if (origin !== undefined && manifest.origin !== origin) return 'a manifest here is of another chain';
  const { count, to } = missingAfter(manifest, last);
  return `the manifest names ${count} segments, to sequence ${to}, that are not here whole: the tail of this chain is missing`;
}

function isIntent(bytes: Buffer, sequence: number): boolean {
  const frame = decodeFrame(bytes, 0);
  return !('no' in frame) && frame.form === 'sealed' && frame.sequence <= sequence && sequence < frame.sequence + frame.heads.length;
}

/**
 * Chains against sessions: each chain is checked as `postern audit verify` does, with the head that status.head of its session names; a
 * session with a head and without a chain is a finding of its own (AUD-02), a chain without a session is only said: sessions are deleted
 * before what they left behind.
 */
import { type ChainHead, ORIGIN_PREFIX } from '#core/audit/checkpoint.ts';
import type { ChainVerdict } from '#core/audit/verify.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { AgentSession } from '#core/resource/gen/agent-session.ts';
import { chainsAt, noChain } from './audit-chains.ts';
import { linesOf } from './audit-verdict.ts';
import { check, trust } from './audit-verify-paths.ts';
import { EXIT } from './exit.ts';

interface Asked {
  readonly keys: readonly string[];
  readonly json: boolean;
  /** Chains that say they are of another one are not shown. */
  readonly namespace: string | undefined;
}

interface Finding {
  /** `namespace/name`; undefined: no session has this chain. */
  readonly session: string | undefined;
  readonly origin: string | undefined;
  readonly good: boolean;
  readonly lines: readonly string[];
}

export async function verifySessions(
  paths: readonly string[],
  sessions: readonly AgentSession[],
  { keys, json, namespace }: Asked,
): Promise<void> {
  const trusted = await trust({ head: [], key: keys });
  const heads = sessions.flatMap((session) => headOf(session) ?? []);
  await using found = await chainsAt(paths);
  const findings: Finding[] = [];
  let elsewhere = 0;
  for (const source of found.chains) {
    const { verifier, notes, place } = await check(source, { ...trusted, heads: [{ many: true, heads }] });
    if (isElsewhere(verifier.origin, namespace)) elsewhere += 1;
    else findings.push(findingOf(verifier.verdict(), { notes, place }, sessions));
  }
  const here = new Set(findings.map(({ origin }) => origin));
  for (const session of sessions) if (!here.has(session.status?.audit?.origin)) findings.push(...missing(session));
  // Nothing to check must not look like nothing wrong (AUD-02).
  if (findings.length === 0) throw noChain();
  process.stdout.write(json ? `${JSON.stringify(findings, null, 2)}\n` : render(findings));
  if (elsewhere > 0) process.stderr.write(`${elsewhere} chains of other namespaces are here and not shown (-A shows them)\n`);
  process.exitCode = findings.every(({ good }) => good) ? EXIT.complete : EXIT.error;
}

/** By what it says of itself. One that lies is missing where it belongs: then its session has a head and no chain. */
function isElsewhere(origin: string | undefined, namespace: string | undefined): boolean {
  if (origin === undefined || namespace === undefined) return false;
  return origin.slice(ORIGIN_PREFIX.length).split('/')[1] !== namespace;
}

function findingOf(
  verdict: ChainVerdict,
  { notes, place }: { readonly notes: readonly string[]; readonly place: string },
  sessions: readonly AgentSession[],
): Finding {
  const session = sessions.find(({ status }) => verdict.origin !== undefined && status?.audit?.origin === verdict.origin);
  const conflict = session?.status?.audit?.conflict;
  const more = [
    ...(session === undefined ? ['note: no session here has this chain; its end is not checked'] : []),
    ...(conflict === undefined
      ? []
      : [`witness: CONFLICT (${conflict.kind}) at ${conflict.at}: known ${conflict.known}, shown ${conflict.shown}`]),
  ];
  return {
    session: session === undefined ? undefined : nameOf(session),
    origin: verdict.origin ?? place,
    good: verdict.good && conflict === undefined,
    lines: [...linesOf({ verdict, notes, place }), ...more],
  };
}

/** A session that was recorded, and has no chain here. */
function missing(session: AgentSession): readonly Finding[] {
  const { status } = session;
  const size = status?.head?.sequence ?? 0;
  if (size === 0) return [];
  const shipped = status?.audit?.shippedSequence;
  const where = status?.audit?.mode === 'Local' ? 'It is recorded in its pod alone.' : `To sequence ${shipped ?? 0} it was stored.`;
  const line = `tail: MISSING: head witnessed ${size}, found no chain. ${where}`;
  return [{ session: nameOf(session), origin: status?.audit?.origin, good: false, lines: [line] }];
}

function headOf({ status }: AgentSession): ChainHead | undefined {
  const origin = status?.audit?.origin;
  const head = status?.head;
  if (origin === undefined || head === undefined || head.sequence === 0) return undefined;
  return { origin, size: head.sequence, hash: Buffer.from(head.hash.replace('sha256:', ''), 'hex') };
}

function nameOf({ metadata }: AgentSession): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function render(findings: readonly Finding[]): string {
  const blocks = findings.map(({ session, origin, lines }) =>
    [session === undefined ? 'session: none' : `session: ${session}`, `chain ${origin ?? 'unknown'}`, ...lines]
      .map((line) => visibleText(line))
      .join('\n'),
  );
  const bad = findings.filter(({ good }) => !good).length;
  return `${[...blocks, `${findings.length} checked, ${bad} bad`].join('\n\n')}\n`;
}

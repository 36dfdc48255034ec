/**
 * One usable answer into the walk: its rows, what it says about being all, and the way to the next page.
 * Order: items, rows, what the rules say, whether this page is the last, then either the last checks or the next
 * request. Nothing here takes a finding of an earlier page back.
 */
import { limits } from '#core/bounds/limits.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import { type Answer, answerOf, unproven } from './answer.ts';
import { type Collected, collect } from './collect.ts';
import { basisFindings, isHeldTogether, isUniqueByBasis, readBasis } from './consistency.ts';
import { type Advanced, advance } from './counter.ts';
import type { Exchange, Reply } from './exchange.ts';
import { FindingSet } from './finding-set.ts';
import { type Followed, originOf, readFollow } from './follow.ts';
import { readItems } from './items.ts';
import { type PartsRead, readParts } from './next-part.ts';
import { raise, raiseOwn, readFreshness, readNotices } from './notice.ts';
import { decideEnd, readLastPage } from './page-end.ts';
import { beyondReach, dropProbe, reachFindings } from './reach.ts';
import { readRequired } from './required.ts';
import { readSignals } from './signal.ts';
import type { Finding, PageTaken, SourceWalk, WalkContext } from './source-walk.ts';
import { readTotals, reconcile } from './total.ts';
import { leaveTrail } from './trail.ts';

/** Undefined when the answer is not what the contract says: no items where items were promised. */
export function takeAnswer(
  context: WalkContext,
  walk: SourceWalk,
  exchange: Exchange,
  reply: Reply,
  empty: boolean,
): PageTaken | undefined {
  const { contract } = context;
  const read = empty ? ({ kind: 'items', items: [] } as const) : readItems(contract.result, reply.body);
  if (read.kind === 'notThere') return undefined;
  const probed = dropProbe(contract.completeness.reach, read.items);
  const answer = answerOf(context, walk, exchange, reply, probed.items);
  const collected = collect(contract, walk, answer);
  const findings = new FindingSet(walk);
  findings.reasons(probed.findings);
  findings.reasons(collected.reasons);
  findings.warnings(collected.warnings);
  findings.omitted(collected.omitted);
  const counted = { ...countPage(contract, walk, answer, collected, findings), sinceMs: walk.sinceMs ?? context.nowMs };
  judgeAnswer(contract, answer, findings);
  const rows = walk.held === undefined ? collected.rows : afterHeld(contract, { ...counted, held: walk.held }, collected, findings);
  const taken = goOn(context, { walk: counted, sent: walk, answer, findings, empty, collected });
  const { held: _held, ...rest } = taken;
  const next: SourceWalk = { ...rest, ...findings.found() };
  return { walk: next, rows, step: next.done ? { kind: 'stop' } : { kind: 'page' } };
}

/** The counts of this page, its totals and its basis. */
function countPage(contract: CompiledContract, walk: SourceWalk, answer: Answer, collected: Collected, findings: FindingSet): SourceWalk {
  const { completeness: rules, result } = contract;
  const basis = readBasis(rules.consistency, result, walk.basis, answer);
  const totals = readTotals(rules.totals, walk.totals, answer, false);
  findings.reasons(basis.findings);
  findings.reasons(totals.findings);
  const lastPage = readLastPage(rules, answer) ?? walk.lastPage;
  if (lastPage !== undefined && walk.lastPage !== undefined && lastPage < walk.lastPage)
    findings.reasons([unproven('paging.end.lastPage', 'the remote counts fewer pages than it did before')]);
  const { failure: _failure, stop: _stop, ...rest } = walk;
  return {
    ...rest,
    pages: walk.pages + 1,
    callPages: walk.callPages + 1,
    pending: false,
    rawItems: walk.rawItems + answer.items.length,
    distinctItems: walk.distinctItems + collected.distinct,
    // Rows remembered by number were counted when they were returned.
    keptItems: walk.keptItems + collected.kept - Math.min(walk.held?.rows ?? 0, collected.kept),
    ids: collected.ids,
    aggregates: collected.aggregates,
    pageDigest: collected.digest,
    totals: totals.totals,
    basis: basis.basis,
    ...(lastPage === undefined ? {} : { lastPage }),
  };
}

/** Said of output that was read up to `limits.bytes` and no further. */
const CAPPED: Finding = {
  code: 'RESULT_LIMIT_REACHED',
  origin: 'sidecar',
  rule: 'limits.bytes',
  message: 'the command wrote more than this call may read; what it wrote before that is here',
};

function judgeAnswer(contract: CompiledContract, answer: Answer, findings: FindingSet): void {
  const { completeness: rules } = contract;
  const { reply } = answer;
  if (reply.fault === 'unframed')
    findings.reasons([unproven('framing', 'the answer has neither a length nor chunks, so that a cut one would look the same')]);
  if (reply.fault === 'tooLarge') findings.reasons([CAPPED]);
  for (const said of [readSignals(rules.signals, answer), readNotices(rules.notices, answer)]) {
    findings.reasons(said.findings);
    findings.warnings(said.warnings.map((call) => raise(contract, call)));
  }
  findings.warnings(readFreshness(contract, rules.freshness, answer));
  if (reply.normalized.length > 0) {
    findings.warnings([
      raiseOwn(
        contract,
        'VALUE_NORMALIZED',
        'numbers larger than a double holds exactly are given as text',
        normalizedFields(contract, reply.normalized),
      ),
    ]);
  }
  if (reply.reflected)
    findings.warnings([raiseOwn(contract, 'CREDENTIAL_REFLECTED', 'the remote sent the credential back; it was masked', [])]);
}

/** Names of the contract only: the paths of the answer are the remote's text. */
function normalizedFields(contract: CompiledContract, paths: readonly string[]): readonly string[] {
  const { fields } = contract.result;
  if (fields === 'All') return [];
  return fields.filter(({ path }) => paths.some((found) => found.endsWith(path.text))).map(({ name }) => name);
}

interface Turn {
  readonly walk: SourceWalk;
  /** The walk as it was when the request was made. */
  readonly sent: SourceWalk;
  readonly answer: Answer;
  readonly findings: FindingSet;
  readonly empty: boolean;
  readonly collected: Collected;
}

function goOn(context: WalkContext, turn: Turn): SourceWalk {
  const { contract } = context;
  const { completeness: rules } = contract;
  const { walk, sent, answer, findings } = turn;
  const single = contract.result.shape.kind === 'object' || rules.paging.mode === 'SingleResponse';
  const parts = single ? undefined : readParts(rules.paging, sent.next, answer);
  const followed = single ? undefined : readFollow(rules.paging, originOf(contract, walk.source), sent.follow, answer);
  const end = decideEnd({
    rules,
    walk,
    sent: sent.next,
    answer,
    parts,
    followed,
    single,
    empty: turn.empty,
    mayRepeat: mayRepeat(contract, turn),
  });
  const isLast = end.kind !== 'more';
  findings.reasons(readRequired(rules.required, answer, isLast, turn.empty && answer.reply.body === undefined));
  if (end.kind === 'broken') {
    findings.reasons([unproven(end.rule, end.message)]);
    return { ...walk, done: true };
  }
  return end.kind === 'end' ? finish(contract, turn) : nextRequest(contract, turn, parts, followed);
}

/** A handle that stays the same is no loop, as long as it does not bring the same page again. */
function mayRepeat(contract: CompiledContract, { sent, collected, answer }: Turn): boolean {
  if (contract.completeness.paging.remainder === 'Leftovers') return true;
  const scrolls = contract.target.kind === 'http' && contract.target.next !== undefined;
  return scrolls && (answer.items.length === 0 || sent.pageDigest !== collected.digest);
}

/** The remote's own end: now its totals, its reach and the basis of several pages can be judged. */
function finish(contract: CompiledContract, { walk, answer, findings }: Turn): SourceWalk {
  const { completeness: rules, result } = contract;
  const late = readTotals(
    rules.totals.filter(({ read }) => read === 'LastPage'),
    walk.totals,
    answer,
    true,
  );
  const ended: SourceWalk = { ...walk, totals: late.totals, done: true };
  const forgotten = ended.idsDropped && !isUniqueByBasis(rules, result);
  const concluded: readonly Finding[] = [
    ...late.findings,
    ...reachFindings(rules, ended, answer.items.length),
    ...reconcile(rules.totals, ended, rules.reach?.total),
    ...basisFindings(rules, ended),
    ...(forgotten ? [unproven('id', 'the walk is longer than a cursor remembers, so that items may have come twice')] : []),
  ];
  findings.reasons(concluded.map((finding) => ({ ...finding, atEnd: true })));
  return ended;
}

function nextRequest(contract: CompiledContract, turn: Turn, parts: PartsRead | undefined, followed: Followed | undefined): SourceWalk {
  const { completeness: rules } = contract;
  const { walk, sent, answer, findings } = turn;
  const advanced: Advanced | undefined = advance(rules, sent.next, answer);
  if (advanced?.kind === 'stuck') {
    findings.reasons([unproven('paging.counter', 'the counter cannot go on from this page')]);
    return { ...walk, done: true };
  }
  const beyond = beyondReach(rules, walk, advanced?.value);
  if (beyond !== undefined) {
    findings.reasons([beyond]);
    return { ...walk, done: true };
  }
  const counter = advanced === undefined || rules.paging.counter === undefined ? {} : { [rules.paging.counter.name]: advanced.value };
  const next = { ...parts?.next, ...counter };
  const target = followed?.says === 'more' ? followed.target : undefined;
  if (JSON.stringify(next).length + (target?.length ?? 0) > limits.remoteCursorCharsMax) {
    findings.reasons([unproven('paging.next', 'the cursor of the remote is longer than a walk may carry')]);
    return { ...walk, done: true };
  }
  // A counter that goes on is a place of its own, whatever handle goes along.
  const trail = leaveTrail(walk.trail, [sent.next, sent.follow], [advanced === undefined ? parts?.next : undefined, target]);
  if (trail === undefined && !mayRepeat(contract, turn)) {
    findings.reasons([unproven('paging.next', 'the remote leads back to a page that this walk has read')]);
    return { ...walk, done: true };
  }
  const { follow: _follow, ...rest } = walk;
  return { ...rest, next, ...(target === undefined ? {} : { follow: target }), ...(trail === undefined ? {} : { trail }) };
}

/**
 * A page cut by a limit was read again: what was returned of it is not returned twice. Ids and a checked basis that held
 * both times make that safe for any second reading; without them it must be the same page.
 */
function afterHeld(
  contract: CompiledContract,
  walk: SourceWalk & Required<Pick<SourceWalk, 'held'>>,
  collected: Collected,
  findings: FindingSet,
): Collected['rows'] {
  const { held } = walk;
  const checked = held.rows === 0 && isHeldTogether(contract.completeness, walk);
  if (!checked && held.digest !== collected.digest) {
    findings.reasons([
      { code: 'SNAPSHOT_CHANGED', origin: 'upstream', message: 'a page that had to be read twice was not the same the second time' },
    ]);
  }
  return collected.rows.slice(held.rows);
}

/**
 * Whether what an agent shows is enough for what it wants to do: pure, so that the gate, the card and clients agree (promise P7).
 *
 * A claim was sealed by this very session, so what it says is what was read. What remains to be asked: is it about the read the contract
 * names, as that read is served now; was the question the one this call implies; is it young enough; do its ids carry this call's targets?
 *
 * - One claim must carry the whole call: two halves of two lists are no list.
 * - A call that names no target rests on nothing, and is refused: "all of none" would be true of every list.
 * - An answer that was not all of it may be shown to a person where the contract says so (`onIncomplete: RequestReview`), and only if
 *   nothing but its incompleteness is wrong: nobody can judge an old answer, or one to another question, better than it can be read again.
 */
import { limits } from '#core/bounds/limits.ts';
import type { CompiledContract, JsonValue, Revision } from '#core/contract/compiled.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { Reason } from '#core/error/reasons.ts';
import type { EvidenceClaim, ReviewClaim } from './evidence-claim.ts';
import { hasId, idKey } from './identity.ts';
import { isList, isObject, memberOf, sameValue, scalarText } from './path.ts';

type EvidenceRules = NonNullable<CompiledContract['effects']['evidence']>;

export type EvidenceCode = Extract<Reason, 'EVIDENCE_REQUIRED' | 'EVIDENCE_EXPIRED' | 'EVIDENCE_INCOMPLETE'>;

export interface Lack {
  readonly code: EvidenceCode;
  /** Our own sentence; ids of the call in it are sanitized and at most three. */
  readonly message: string;
  /** Nothing but incompleteness: a person may decide over it where the contract says so. */
  readonly reviewable: boolean;
}

/** One id of this call, as it stands in the arguments. */
export type TargetId = string | number | boolean;

export interface Shown {
  readonly claim: EvidenceClaim | ReviewClaim;
  /** Ids of this call the answer lists, in the order of the call. */
  readonly listed: readonly TargetId[];
  /** The others. */
  readonly notListed: readonly TargetId[];
}

export type EvidenceVerdict =
  | (Shown & { readonly kind: 'sufficient' })
  /** A person may decide; `lacks` goes on the card. */
  | (Shown & { readonly kind: 'review'; readonly lacks: readonly Lack[] })
  | {
      readonly kind: 'refused';
      readonly code: EvidenceCode;
      readonly lacks: readonly Lack[];
      /** The claim that came nearest; absent where none was about this read. */
      readonly shown?: Shown;
    };

export interface EvidenceQuestion {
  readonly contract: Pick<CompiledContract, 'namespace'>;
  readonly rules: EvidenceRules;
  /** Canonical arguments of the effect. */
  readonly args: Readonly<Record<string, JsonValue>>;
  /** Opened tokens, all of them of this session. */
  readonly claims: readonly (EvidenceClaim | ReviewClaim)[];
  /** Of the read as it is served now; undefined when it is not. */
  readonly readRevision: Revision | undefined;
  readonly nowMs: number;
}

export function matchEvidence(question: EvidenceQuestion): EvidenceVerdict {
  const { rules, claims, contract } = question;
  const about = claims.filter((claim) => claim.contract === rules.from && claim.namespace === contract.namespace);
  if (about.length === 0) {
    const lack = claims.length === 0 ? REQUIRED(rules) : OTHER_READ(rules);
    return { kind: 'refused', code: lack.code, lacks: [lack] };
  }
  const judged = about.map((claim) => judge(question, claim));
  const best = judged.toSorted(compare)[0] as Judged;
  const { lacks, shown } = best;
  if (lacks.length === 0) return { kind: 'sufficient', ...shown };
  if (rules.onIncomplete === 'RequestReview' && lacks.every(({ reviewable }) => reviewable)) return { kind: 'review', lacks, ...shown };
  return { kind: 'refused', code: codeOf(lacks), lacks, shown };
}

interface Judged {
  readonly lacks: readonly Lack[];
  readonly shown: Shown;
}

/** Whatever lacks least; what a person may decide over comes before what nobody may. */
function compare({ lacks: one }: Judged, { lacks: other }: Judged): number {
  return firmOf(one) - firmOf(other) || one.length - other.length;
}

function firmOf(lacks: readonly Lack[]): number {
  return lacks.filter(({ reviewable }) => !reviewable).length;
}

/** Age alone is told as age: reading again is enough then. */
function codeOf(lacks: readonly Lack[]): EvidenceCode {
  return lacks.every(({ code }) => code === 'EVIDENCE_EXPIRED') ? 'EVIDENCE_EXPIRED' : 'EVIDENCE_INCOMPLETE';
}

function judge(question: EvidenceQuestion, claim: EvidenceClaim | ReviewClaim): Judged {
  const targets = targetsOf(question);
  const listed = targets.ids.filter((id) => isListed(claim, id));
  const notListed = targets.ids.filter((id) => !isListed(claim, id));
  const shown: Shown = { claim, listed, notListed };
  const lacks = [
    ...ageLacks(question, claim),
    ...questionLacks(question, claim),
    ...answerLacks(question.rules, claim),
    ...targetLacks(question.rules, shown, targets.unusable),
  ];
  return { lacks, shown };
}

const INCOMPLETE = 'EVIDENCE_INCOMPLETE';

function firm(message: string, code: EvidenceCode = INCOMPLETE): Lack {
  return { code, message, reviewable: false };
}

function soft(message: string): Lack {
  return { code: INCOMPLETE, message, reviewable: true };
}

const REQUIRED = ({ from }: EvidenceRules): Lack =>
  firm(`This action acts on what ${actionOf(from)} lists: call that first, and give the evidence of its answer.`, 'EVIDENCE_REQUIRED');
const OTHER_READ = ({ from }: EvidenceRules): Lack => firm(`The evidence is not of ${actionOf(from)}, which this action asks for.`);

function ageLacks({ rules, nowMs }: EvidenceQuestion, claim: Answered): readonly Lack[] {
  const ageMs = nowMs - claim.atMs;
  if (ageMs > rules.maxAgeMs) {
    const message = `The evidence is ${seconds(ageMs)} old; this action takes none older than ${seconds(rules.maxAgeMs)}. Read again.`;
    return [firm(message, 'EVIDENCE_EXPIRED')];
  }
  // A clock that was set back would make old evidence young (failure case APR-11).
  if (ageMs < -limits.clockSkewMsMax)
    return [firm('The evidence is from the future, so its age is not known. Read again.', 'EVIDENCE_EXPIRED')];
  return [];
}

type Answered = EvidenceClaim | ReviewClaim;

function questionLacks({ rules, args, readRevision }: EvidenceQuestion, claim: Answered): readonly Lack[] {
  const read = actionOf(rules.from);
  const lacks: Lack[] = [];
  if (readRevision === undefined) lacks.push(firm(`${read} cannot be called at the moment, so nothing it answered stands.`));
  else if (claim.revision !== readRevision) lacks.push(firm(`${read} has changed since the evidence was given. Read again.`));
  const other = [...new Set([...rules.match.map(({ evidenceArgument }) => evidenceArgument), ...Object.keys(claim.args)])].filter(
    (name) => !isAsked(rules, name, args, claim.args),
  );
  if (other.length > 0) {
    const names = other.slice(0, NAMED_MAX).map((name) => visibleText(name, { chars: 64 }));
    lacks.push(
      firm(`The evidence answers another question: ${names.join(', ')} of ${read} must be what this call says. Read again with that.`),
    );
  }
  return lacks;
}

/** Whether this argument of the read was what the call implies. One that nothing implies must not have been there. */
function isAsked(rules: EvidenceRules, name: string, args: EvidenceQuestion['args'], asked: EvidenceQuestion['args']): boolean {
  const rule = rules.match.find(({ evidenceArgument }) => evidenceArgument === name);
  const had = memberOf(asked, name);
  if (rule === undefined) return had === undefined;
  const wanted = rule.given.kind === 'constant' ? rule.given.value : memberOf(args, rule.given.argument);
  if (wanted === undefined || had === undefined) return wanted === had;
  return sameValue(wanted, had);
}

function answerLacks(rules: EvidenceRules, claim: Answered): readonly Lack[] {
  const lacks: Lack[] = [];
  const [only, ...others] = claim.sources;
  if (only !== '' || others.length > 0)
    lacks.push(firm('The evidence comes from several sources, and an id alone does not say of which it is.'));
  if (claim.complete !== true) lacks.push(...incompleteLacks(rules, claim));
  if (rules.proof === 'Checked' && claim.proof === 'Declared')
    lacks.push(soft('That the pages belong together is only declared by their owner, and this action asks for a check.'));
  return lacks;
}

function incompleteLacks({ from }: EvidenceRules, claim: ReviewClaim): readonly Lack[] {
  const read = actionOf(from);
  const lacks = claim.reasons.map(({ message }) => soft(`The answer of ${read} is incomplete: ${message}.`));
  if (claim.reasons.length > 0) {
    const total = claim.total === undefined ? '' : `, of about ${claim.total}`;
    lacks.unshift(soft(`The answer of ${read} stopped after ${seconds(claim.spentMs)} with ${claim.items} items${total}.`));
  }
  if (claim.warnings.length > 0)
    lacks.push(soft(`The answer of ${read} carries a warning that forbids evidence: ${claim.warnings.join(', ')}.`));
  if (claim.proof === 'Unproven') lacks.push(soft('Nothing proves that the pages belong together.'));
  return lacks.length > 0 ? lacks : [soft(`The answer of ${read} is not known to be complete.`)];
}

/** The ids of a Listed must be there; those of an Absent must not, and the list must be one that shows everything there is. */
function targetLacks(rules: EvidenceRules, { claim, listed, notListed }: Shown, unusable: boolean): readonly Lack[] {
  if (unusable || listed.length + notListed.length === 0)
    return [firm(`This call names nothing at /${rules.ids.join('/')} that could be looked up.`)];
  if (rules.claim === 'Listed') {
    if (notListed.length === 0) return [];
    const message = `${sample(notListed)} not among the ${claim.items} items that were listed.`;
    return [claim.complete === true ? firm(message) : soft(message)];
  }
  const lacks: Lack[] = [];
  if (claim.scope.absence !== 'provable') lacks.push(firm('That something is not listed does not prove that it does not exist.'));
  if (listed.length > 0) lacks.push(firm(`${sample(listed)} among the items that were listed, and this action is for what is not.`));
  return lacks;
}

interface Targets {
  readonly ids: readonly TargetId[];
  /** Something stands there that is no id. */
  readonly unusable: boolean;
}

function targetsOf({ rules, args }: EvidenceQuestion): Targets {
  const value = rules.ids.reduce<JsonValue | undefined>((held, name) => (isObject(held) ? memberOf(held, name) : undefined), args);
  const values = value === undefined ? [] : isList(value) ? value : [value];
  const ids = values.filter((each): each is TargetId => scalarText(each) !== undefined);
  return { ids, unusable: ids.length < values.length };
}

/** By the canonical text of identity.ts: 7 and "7" are one id. */
function isListed(claim: Answered, id: TargetId): boolean {
  return hasId(claim.ids, idKey(claim.sources[0] ?? '', [String(id)]));
}

const NAMED_MAX = 3;

/** `3 targets (a, b, c) are`, `1 target (a) is`. */
function sample(ids: readonly TargetId[]): string {
  const shown = ids.slice(0, NAMED_MAX).map((id) => visibleText(String(id), { chars: 64 }));
  const more = ids.length > NAMED_MAX ? ', ...' : '';
  return ids.length === 1 ? `1 target (${shown.join()}) is` : `${ids.length} targets (${shown.join(', ')}${more}) are`;
}

function seconds(ms: number): string {
  const whole = Math.round(ms / 1000);
  return whole >= 120 ? `${Math.floor(whole / 60)} min` : `${whole} s`;
}

function actionOf(contract: string): string {
  return contract.replaceAll('-', '_');
}

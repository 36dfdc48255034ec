/**
 * Which way a change of each field goes. A change that cannot be proved to narrow counts as widening: a reviewer reads one line too many
 * rather than one too few.
 */
import { parseDay } from '#core/bounds/calendar-day.ts';
import type { JsonValue } from './compiled.ts';
import { plainText } from './plain-text.ts';
import { parseDuration, parseSize } from './quantity.ts';
import type { SpecChange } from './spec-changes.ts';

export type Direction = 'widened' | 'narrowed' | 'changed';
type Judge = (change: SpecChange) => Direction;

interface DiffRule {
  /** `*` is one name, a final `**` any number of them. */
  readonly at: readonly string[];
  readonly judge: Judge;
  readonly says: string;
}

const isAdded = (change: SpecChange) => change.before === undefined;
const isRemoved = (change: SpecChange) => change.after === undefined;

const added: Judge = (change) => (isRemoved(change) ? 'narrowed' : 'widened');
/** Also when it only changes: what it held back may pass now. */
const removed: Judge = (change) => (isAdded(change) ? 'narrowed' : 'widened');
const any: Judge = () => 'widened';
const neutral: Judge = () => 'changed';

/** By amount; without a bound everything is allowed. */
function amount(more: 'widens' | 'narrows'): Judge {
  return (change) => {
    const before = quantity(change.before);
    const after = quantity(change.after);
    if (before === undefined || after === undefined) return isAdded(change) ? 'narrowed' : 'widened';
    return after > before === (more === 'widens') ? 'widened' : 'narrowed';
  };
}

function quantity(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? (parseDuration(value) ?? parseSize(value) ?? parseDay(value)) : undefined;
}

/** The later in the list, the more is allowed; the first is also what stands where nothing is written. */
function towards(...order: readonly string[]): Judge {
  const place = (value: JsonValue | undefined) => Math.max(0, order.indexOf(plainText(value)));
  return ({ before, after }) => {
    const step = place(after) - place(before);
    return step === 0 ? 'changed' : step > 0 ? 'widened' : 'narrowed';
  };
}

const rule = (at: string, judge: Judge, says: string): DiffRule => ({ at: at.split('.'), judge, says });

/** The first that fits. */
const CONTRACT_RULES: readonly DiffRule[] = [
  rule('action', neutral, 'the name agents call'),
  rule('summary', neutral, 'a description'),
  rule('owner', neutral, 'a description'),
  rule('effect', towards('Read', 'Write', 'Destructive'), 'what a call can do'),
  rule('callers.*', added, 'who may call'),
  rule('credentials.*', added, 'a credential it may use'),
  rule('suspended.**', removed, 'the kill switch'),
  rule('readOnlyBecause', neutral, 'why the request changes nothing'),
  rule('resolve.**', added, 'what a label stands for'),
  rule('constants.**', any, 'a fixed value that is sent'),
  rule('http.credential', any, 'the credential that is attached'),
  rule('http.method', any, 'the method'),
  rule('http.url', any, 'the place it goes to'),
  rule('http.**', any, 'what is sent'),
  rule('ssh.**', any, 'the command'),
  rule('prepare.**', removed, 'what the approver sees'),
  rule('forEach.**', any, 'how many targets one call has'),
  rule('result.as', neutral, 'a name in the answer'),
  rule('result.items.**', any, 'what of an answer is read'),
  rule('result.object', any, 'what of an answer is read'),
  rule('result.decoder', any, 'how an answer is read'),
  rule('result.lines.**', any, 'how lines are read'),
  rule('result.id.**', any, 'what makes two items one'),
  rule('result.order.**', removed, 'the order that is checked'),
  rule('result.fields.*', added, 'a field that leaves'),
  rule('result.fields', removed, 'the fields that leave'),
  rule('result.fields.**', any, 'a field that leaves'),
  rule('result.allFields.because', neutral, 'the reason'),
  rule('result.allFields', added, 'everything leaves'),
  rule('result.where', removed, 'which items are kept'),
  rule('result.aggregate.**', any, 'a value that leaves'),
  rule('result.outcomes.**', any, 'what an answer is taken for'),
  rule('result.absentItems', towards('Error', 'Empty'), 'whether a missing list is an empty one'),
  rule('result.contentTypes.*', added, 'an answer that is accepted'),
  rule('completeness.preset', any, 'the preset'),
  rule('completeness.without.**', added, 'a rule of the preset that is dropped'),
  rule('completeness.paging.end.nextIs.**', added, 'what ends a walk'),
  rule('completeness.paging.end.pageIs.**', added, 'what ends a walk'),
  rule('completeness.paging.end.**', any, 'what ends a walk'),
  rule('completeness.paging.follow.**', added, 'the URLs that are followed'),
  rule('completeness.paging.**', any, 'how the next page is asked for'),
  rule(
    'completeness.consistency.mode',
    towards('SinglePage', 'SnapshotKey', 'SnapshotHandle', 'Keyset', 'Declared'),
    'why pages belong together',
  ),
  rule('completeness.consistency.because', neutral, 'the reason'),
  rule('completeness.consistency.equal.*', removed, 'why pages belong together'),
  rule('completeness.consistency.when', removed, 'why pages belong together'),
  rule('completeness.consistency.**', any, 'why pages belong together'),
  rule('completeness.required.*.anyOf.*', added, 'where a needed value may stand'),
  rule('completeness.required.*.anyOf.**', any, 'where a needed value may stand'),
  rule('completeness.signals.*.table.entries.**', any, 'what a code of the remote means'),
  rule('completeness.signals.*.sources', neutral, 'whose names are told'),
  rule('completeness.notices.*.when', added, 'when a warning is raised'),
  rule('completeness.notices.*.fields.**', neutral, 'the fields a warning names'),
  rule('completeness.totals.*.when', added, 'when a count is compared'),
  rule('completeness.totals.*.relationFrom.**', any, 'how exact a count is'),
  rule('completeness.totals.*.relations.**', any, 'how exact a count is'),
  rule('completeness.totals.*.from.**', any, 'a count that is compared'),
  rule('completeness.*.*.then', neutral, 'a way on'),
  rule('completeness.required.**', removed, 'what an answer must hold'),
  rule('completeness.signals.**', removed, 'a rule that finds an answer incomplete'),
  rule('completeness.notices.**', removed, 'a warning'),
  rule('completeness.totals.**', removed, 'a count that is compared'),
  rule('completeness.reach.narrowBy.**', neutral, 'a way on'),
  rule('completeness.reach.fullPage', towards('Limit', 'Ignore'), 'whether a full page may hide more'),
  rule('completeness.reach.probe.**', any, 'what the remote can give'),
  rule('completeness.reach.**', removed, 'what the remote can give'),
  rule('completeness.freshness.*.maxAge', amount('widens'), 'how old data may be'),
  rule('completeness.freshness.*.from.**', any, 'a check of age'),
  rule('completeness.freshness.**', removed, 'a check of age'),
  rule('completeness.cursor.onExpiry', towards('Fail', 'ContinueInconsistent'), 'what an expired cursor does'),
  rule('completeness.cursor.afterMutation', towards('Invalidate', 'Keep'), 'whether a write voids a cursor'),
  rule('completeness.cursor.**', any, 'the life of a cursor'),
  rule('completeness.job.interval', neutral, 'how often it asks'),
  rule('completeness.job.**', any, 'what is taken of an unfinished job'),
  rule('completeness.rateLimit.**', neutral, 'how long it waits'),
  rule('completeness.scope.absence', towards('Never', 'Provable'), 'whether absence is proved'),
  rule('completeness.scope.exclusions.*', removed, 'what is said to be missing'),
  rule('completeness.scope.floor', amount('narrows'), 'how few items are believed'),
  rule('completeness.scope.**', neutral, 'what an answer says it covers'),
  rule('completeness.sources.list.*', added, 'a source that is asked'),
  rule('completeness.sources.**', any, 'a source that is asked'),
  rule('completeness.limits.*', amount('widens'), 'a limit'),
  rule('completeness.onIncomplete', towards('Fail', 'Return'), 'what an incomplete answer does'),
  rule('evidence.maxAge', amount('widens'), 'how old evidence may be'),
  rule('evidence.onIncomplete', towards('Refuse', 'RequestReview'), 'what incomplete evidence does'),
  rule('evidence.proof', towards('Checked', 'Declared'), 'what proves the evidence'),
  rule('evidence.**', removed, 'the evidence'),
  rule('recheck.**', removed, 'the read before the effect'),
  rule('idempotency.mode', any, 'what a second call does'),
  rule('idempotency.**', removed, 'how an unknown outcome is settled'),
  rule('approval.mode', towards('EachCall', 'Session', 'None'), 'who approves'),
  rule('approval.expiresAfter', amount('widens'), 'how long an approval lives'),
  rule('approval.calls', amount('widens'), 'how many calls one approval covers'),
  rule('approval.vary.**', added, 'what may differ under one approval'),
  rule('approval.reason', neutral, 'the argument that is the reason'),
  rule('approval.because', neutral, 'the reason'),
  rule('warnings.*.expires', amount('widens'), 'how long a warning may stand'),
  // STALE_INDEX forbids evidence, the others do not.
  rule('warnings.*.code', any, 'what a warning forbids'),
  rule('warnings.**', neutral, 'a warning'),
];

const BINDING_RULES: readonly DiffRule[] = [
  rule('owner', neutral, 'a description'),
  rule('contracts.*', added, 'who may use the credential'),
  rule('destinations.*.methods.*', added, 'a method it may be used with'),
  rule('destinations.*.methods', removed, 'the methods it may be used with'),
  rule('destinations.*.pathPrefixes.*', added, 'a path it may be used on'),
  rule('destinations.*.pathPrefixes', removed, 'the paths it may be used on'),
  rule('destinations.*.addresses.*', added, 'an address range it may go to'),
  // Without a list every public address is allowed, with one only what it names: either way other addresses than before.
  rule('destinations.*.addresses', any, 'the address ranges it may go to'),
  rule('destinations.*.hostKeys.*', added, 'a host key that is trusted'),
  rule('destinations.*.transport', towards('TLS', 'Plaintext'), 'whether it goes in clear'),
  rule('destinations.*', added, 'a place it may go to'),
  rule('destinations.**', any, 'whom it trusts on the way'),
  rule('secret.revision', neutral, 'that the value is a new one'),
  rule('secret.**', any, 'the Secret'),
  rule('use.**', any, 'how it is attached'),
  rule('allowCloudIdentity.**', added, 'pods that have a cloud identity beside it'),
  rule('approval', removed, 'who approves'),
  rule('suspended.**', removed, 'the kill switch'),
];

export function judgeContractChange(change: SpecChange): { readonly direction: Direction; readonly says: string } {
  if (change.path[0] === 'arguments') return { direction: judgeArgument(change), says: 'what the agent may pass' };
  return judge(CONTRACT_RULES, change);
}

export function judgeBindingChange(change: SpecChange): { readonly direction: Direction; readonly says: string } {
  return judge(BINDING_RULES, change);
}

/** Fails on the safe side; a test holds that no field of the CRDs comes here. */
const UNKNOWN = { direction: 'widened', says: 'a field without a rule' } as const;

function judge(rules: readonly DiffRule[], change: SpecChange): { readonly direction: Direction; readonly says: string } {
  const found = rules.find(({ at }) => fits(at, change.path));
  return found === undefined ? UNKNOWN : { direction: found.judge(change), says: found.says };
}

function fits(pattern: readonly string[], path: readonly string[]): boolean {
  const open = pattern.at(-1) === '**';
  const fixed = open ? pattern.slice(0, -1) : pattern;
  if (open ? path.length < fixed.length : path.length !== fixed.length) return false;
  return fixed.every((step, index) => step === '*' || step === path[index]);
}

/** By keyword, in the schema the path leads to: a property may have the name of a keyword. */
function judgeArgument({ path, ...change }: SpecChange): Direction {
  let here = path.slice(1);
  while ((here[0] === 'properties' && here.length > 2) || (here[0] === 'items' && here.length > 1)) {
    here = here.slice(here[0] === 'items' ? 1 : 2);
  }
  const [keyword = '', ...inside] = here;
  const judged = KEYWORDS[keyword];
  if (judged === undefined) return 'widened';
  return (inside.length > 0 ? judged.inside : judged.whole)({ path, ...change });
}

const least = { whole: amount('narrows'), inside: any };
const most = { whole: amount('widens'), inside: any };
const rest = { whole: removed, inside: any };

/** `inside`: a part of the keyword's value. */
const KEYWORDS: Readonly<Record<string, { readonly whole: Judge; readonly inside: Judge }>> = {
  description: { whole: neutral, inside: neutral },
  properties: { whole: added, inside: added },
  enum: { whole: removed, inside: added },
  required: { whole: removed, inside: removed },
  maxLength: most,
  maxItems: most,
  maximum: most,
  'x-postern-max-bytes': most,
  minLength: least,
  minItems: least,
  minimum: least,
  pattern: rest,
  format: rest,
  uniqueItems: rest,
  additionalProperties: rest,
  // An identifier is stricter than any free text.
  'x-postern-text': { whole: added, inside: any },
};

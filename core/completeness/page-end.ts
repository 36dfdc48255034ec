/**
 * Whether this page ends the walk (primitive 7). Nothing ends a walk unless the contract lists it, and two tests
 * that disagree end it unproven.
 *
 * `nextIs`, a followed URL, `flag`, `lastPage`, `marker` and `total` are two-sided: each can say "end" and "more".
 * `pageIs` can only say "end", and only where none of them spoke and no link to a next page is there: filters and
 * permissions are applied after a page is cut, so short and empty pages occur everywhere.
 */
import type { CompletenessRules } from '#core/contract/compiled.ts';
import type { Answer } from './answer.ts';
import { currentOf, effectiveSize } from './counter.ts';
import type { Followed } from './follow.ts';
import { readLocator } from './locator.ts';
import type { PartsRead } from './next-part.ts';
import { isEmptyValue, isList, scalarText } from './path.ts';
import type { SourceWalk } from './source-walk.ts';
import { countOf } from './total.ts';

export type PageEnd =
  | { readonly kind: 'end' }
  | { readonly kind: 'more' }
  | { readonly kind: 'broken'; readonly rule: string; readonly message: string };

export interface EndInput {
  readonly rules: CompletenessRules;
  /** With the counts of this page. */
  readonly walk: SourceWalk;
  readonly sent: SourceWalk['next'];
  readonly answer: Answer;
  readonly parts: PartsRead | undefined;
  readonly followed: Followed | undefined;
  /** One answer by nature: an object, or `mode: SingleResponse`. */
  readonly single: boolean;
  /** Classified Empty: the answer itself says that there is nothing. */
  readonly empty: boolean;
  /** A handle that stays the same is no loop where a request of its own replaces the first one, or for leftovers. */
  readonly mayRepeat: boolean;
}

type Vote = 'end' | 'more' | 'none' | { readonly broken: string; readonly rule: string };

export function decideEnd(input: EndInput): PageEnd {
  const votes = [partsVote(input), followVote(input.followed), flagVote(input), lastPageVote(input), markerVote(input), totalVote(input)];
  for (const vote of votes) {
    if (typeof vote === 'object') return { kind: 'broken', rule: vote.rule, message: vote.broken };
  }
  const more = votes.includes('more');
  const end = votes.includes('end');
  if (more && end) return { kind: 'broken', rule: 'paging.end', message: 'two signals of the remote disagree about whether more follows' };
  if (input.single)
    return more
      ? { kind: 'broken', rule: 'paging.end', message: 'the remote says that more follows, and the contract reads one answer only' }
      : { kind: 'end' };
  if (more) return goOn(input);
  return end ? { kind: 'end' } : unspoken(input);
}

function partsVote({ parts, empty }: EndInput): Vote {
  switch (parts?.says) {
    case 'more':
      return 'more';
    case 'end':
      return 'end';
    case 'half':
      return { rule: 'paging.next', broken: 'the remote gave one part of its cursor without the other' };
    case 'unusable':
      return { rule: 'paging.next', broken: 'the remote names a next page in a way the contract cannot use' };
    case 'missing':
      return empty ? 'end' : 'none';
    default:
      return 'none';
  }
}

function followVote(followed: Followed | undefined): Vote {
  switch (followed?.says) {
    case 'more':
      return 'more';
    case 'end':
      return 'end';
    case 'refused':
      return { rule: 'paging.follow', broken: 'the remote names a next page that this contract may not follow' };
    case 'repeated':
      return { rule: 'paging.follow', broken: 'the remote names the page just read as the next one' };
    default:
      return 'none';
  }
}

function flagVote({ rules, answer, empty }: EndInput): Vote {
  const { flag } = rules.paging.end;
  if (flag === undefined) return 'none';
  const reading = readLocator(flag.from, answer.exchange, answer.lastItem);
  const text = reading.kind === 'value' ? scalarText(reading.value) : undefined;
  if (text !== undefined) return text === flag.equals ? 'end' : 'more';
  if (reading.kind === 'absent' && (flag.presence === 'Optional' || empty)) return 'none';
  return { rule: 'paging.end.flag', broken: 'the flag that tells whether more follows is not there' };
}

function lastPageVote({ rules, sent, answer, walk }: EndInput): Vote {
  const { lastPage } = rules.paging.end;
  if (lastPage === undefined) return 'none';
  const reading = readLocator(lastPage.from, answer.exchange, answer.lastItem);
  if (reading.kind === 'unusable' || (reading.kind === 'value' && reading.value !== null && readLastPage(rules, answer) === undefined))
    return { rule: 'paging.end.lastPage', broken: 'the number of pages is not a count' };
  if (walk.lastPage === undefined) return 'none';
  const { counter } = rules.paging;
  const current = counter === undefined ? answer.index + 1 : currentOf(rules, sent);
  if (lastPage.as === 'Number') return current >= walk.lastPage ? 'end' : 'more';
  const position = counter === undefined ? current : current - counter.start + 1;
  return position >= walk.lastPage ? 'end' : 'more';
}

/** The number of the last page, or how many there are; the first page's word holds until another comes. */
export function readLastPage(rules: CompletenessRules, answer: Answer): number | undefined {
  const { lastPage } = rules.paging.end;
  const reading = lastPage === undefined ? undefined : readLocator(lastPage.from, answer.exchange, answer.lastItem);
  if (reading?.kind !== 'value') return undefined;
  return isList(reading.value) ? reading.value.length : countOf(reading.value);
}

function markerVote({ rules, answer }: EndInput): Vote {
  const { marker } = rules.paging.end;
  if (marker === undefined) return 'none';
  const reading = readLocator(marker.from, answer.exchange, answer.lastItem);
  return reading.kind === 'value' && reading.value !== false && !isEmptyValue(reading.value) ? 'end' : 'more';
}

function totalVote({ rules, walk, answer, sent, empty }: EndInput): Vote {
  const { total } = rules.paging.end;
  const seen = total === undefined ? undefined : walk.totals[total];
  if (seen === undefined || empty || seen.relation === 'Estimate' || seen.relation === 'Scanned') return 'none';
  // A lower bound that is reached says nothing: there may be any number more.
  if (position(rules, walk, answer, sent) >= seen.value) return seen.relation === 'Exact' ? 'end' : 'none';
  // Nothing came although the remote counts more: asking on would only repeat it.
  return answer.items.length === 0 ? { rule: 'paging.end.total', broken: 'a page is empty although the remote counts more items' } : 'more';
}

/** How far the walk has come: by the offset where there is one, so that a short page does not make it ask for ever. */
function position(rules: CompletenessRules, walk: SourceWalk, answer: Answer, sent: SourceWalk['next']): number {
  const { counter } = rules.paging;
  if (counter?.unit !== 'Item' || counter.stride === 'Returned') return walk.rawItems;
  return currentOf(rules, sent) - counter.start + (effectiveSize(rules, answer) ?? answer.items.length);
}

function goOn(input: EndInput): PageEnd {
  const { parts, followed, rules } = input;
  if (followed?.says === 'more' || rules.paging.counter !== undefined) return { kind: 'more' };
  if (parts?.says === 'repeated' && !input.mayRepeat) return REPEATED;
  // Without its required part the rest of a cursor would lead to the beginning of the list.
  if (parts !== undefined && parts.says !== 'missing' && Object.keys(parts.next).length > 0) return { kind: 'more' };
  return { kind: 'broken', rule: 'paging.next', message: 'the remote says that more follows and gives no way to it' };
}

const REPEATED: PageEnd = { kind: 'broken', rule: 'paging.next', message: 'the remote names the page just read as the next one' };

/** No two-sided test spoke. */
function unspoken(input: EndInput): PageEnd {
  const { rules, parts, answer, empty } = input;
  const { pageIs } = rules.paging.end;
  if (empty) return { kind: 'end' };
  if (parts?.linked !== true) {
    const size = effectiveSize(rules, answer);
    if (pageIs.includes('Empty') && answer.items.length === 0) return { kind: 'end' };
    if (pageIs.includes('Short') && size !== undefined && answer.items.length < size) return { kind: 'end' };
  }
  if (parts?.says === 'repeated') return input.mayRepeat ? { kind: 'more' } : REPEATED;
  if (parts !== undefined && Object.keys(parts.next).length > 0 && parts.says !== 'missing') return { kind: 'more' };
  if (rules.paging.counter !== undefined && pageIs.length > 0) return { kind: 'more' };
  return { kind: 'broken', rule: 'paging.end', message: 'the answer tells neither that it is the last one nor how to go on' };
}

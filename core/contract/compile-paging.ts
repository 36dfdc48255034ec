/** How the next page is asked for, what ends the walk, and why several pages belong together. */
import type { Locator } from '#core/completeness/path.ts';
import { ANSWER_VARIABLES } from '#core/completeness/rule.ts';
import { nameAt } from './compile-result.ts';
import type { ConsistencyRules, NextEnd, NextPart, PagingRules } from './compiled.ts';
import { type Draft, templateAt } from './draft.ts';
import type { SpecNode } from './spec-node.ts';

const ENDS = ['Absent', 'NullValue', 'EmptyString', 'EmptyObject', 'EmptyList', 'SameAsSent'] as const satisfies readonly NextEnd[];

export function compilePaging(draft: Draft, node: SpecNode): PagingRules {
  const follow = followAt(node.maybe('follow'));
  const counter = counterAt(node.maybe('counter'));
  return {
    mode: node.at('mode').choice(['Walk', 'SingleResponse']),
    next: node
      .at('next')
      .list()
      .map((part) => nextAt(draft, part)),
    ...(follow === undefined ? {} : { follow }),
    ...(counter === undefined ? {} : { counter }),
    end: endAt(node.at('end')),
    remainder: node.at('remainder').choice(['Pages', 'Leftovers']),
  };
}

function nextAt(draft: Draft, node: SpecNode): NextPart {
  const initial = node.maybe('initial');
  return {
    name: nameAt(node.at('name')),
    from: locatorsAt(node.at('from')),
    ...(initial === undefined ? {} : { initial: templateAt(draft, initial, 'initial', 'main') }),
    presence: node.at('presence').choice(['Required', 'Optional']),
  };
}

/** At least one place. */
export function locatorsAt(node: SpecNode): readonly Locator[] {
  const list = node.list().map((place) => place.locator());
  if (list.length === 0 && !node.report.saidAbout(node.path)) node.problem('missing-field', 'At least one place is required.');
  return list;
}

function followAt(node: SpecNode | undefined): PagingRules['follow'] {
  if (node === undefined) return undefined;
  const paths = node
    .at('paths')
    .list()
    .map((path) => {
      const text = path.text();
      if (!/^(?:\/[A-Za-z0-9\-._~!&'()*+,;=:@]+)+\/?$|^\/$/.test(text) || /\/\.{1,2}(?:\/|$)/.test(text)) {
        path.problem('paging-follow', `${JSON.stringify(text)} is not a fixed path.`);
      }
      return text;
    });
  return {
    from: locatorsAt(node.at('from')),
    paths,
    vary: node
      .at('vary')
      .list()
      .map((name) => name.text()),
  };
}

function counterAt(node: SpecNode | undefined): PagingRules['counter'] {
  if (node === undefined) return undefined;
  const stride = node.at('stride').choice(['Returned', 'Requested', 'Echoed']);
  const echo = node.maybe('echo')?.locator();
  if ((stride === 'Echoed') !== (echo !== undefined)) {
    node.problem('paging-conflict', 'echo and stride: Echoed belong together.', { cure: 'Write both, or neither.' });
  }
  return {
    name: nameAt(node.at('name')),
    unit: node.at('unit').choice(['Item', 'Page']),
    start: node.at('start').count(0),
    stride,
    ...(echo === undefined ? {} : { echo }),
  };
}

function endAt(node: SpecNode): PagingRules['end'] {
  const flag = node.maybe('flag');
  const lastPage = node.maybe('lastPage');
  const marker = node.maybe('marker');
  const total = node.maybeText('total');
  return {
    nextIs: node
      .at('nextIs')
      .list()
      .map((form) => form.choice(ENDS)),
    ...(flag === undefined
      ? {}
      : {
          flag: {
            from: flag.at('from').locator(),
            equals: scalarAt(flag.at('equals')),
            presence: flag.at('presence').choice(['Required', 'Optional']),
          },
        }),
    ...(lastPage === undefined
      ? {}
      : { lastPage: { from: lastPage.at('from').locator(), as: lastPage.at('as').choice(['Number', 'Length']) } }),
    ...(marker === undefined ? {} : { marker: { from: marker.at('from').locator() } }),
    ...(total === undefined ? {} : { total }),
    pageIs: node
      .at('pageIs')
      .list()
      .map((form) => form.choice(['Empty', 'Short'])),
  };
}

/** Scalars compare as text, so `false` and `"false"` say the same. */
function scalarAt(node: SpecNode): string {
  return typeof node.value === 'boolean' || typeof node.value === 'number' ? String(node.value) : node.text();
}

/** A list says one way on; a walk says what ends it. */
export function checkPaging(draft: Draft, paging: PagingRules, isList: boolean): void {
  const node = draft.spec.at('completeness').at('paging');
  const ways = [paging.next.length > 0, paging.follow !== undefined, paging.counter !== undefined].filter(Boolean).length;
  if (paging.mode === 'SingleResponse') {
    if (ways > 0) node.problem('paging-conflict', 'SingleResponse has no second page, and a way to one is written.');
    return;
  }
  if (ways === 0) {
    if (isList) node.problem('paging-missing', 'A list says one of next, follow, counter or mode: SingleResponse.');
    return;
  }
  if (paging.follow !== undefined && ways > 1)
    node.problem('paging-conflict', 'A followed URL carries everything; next and counter cannot stand beside it.');
  if (!isList) node.problem('paging-conflict', 'A single object has no pages.', { cure: 'Write result.items, or drop the pager.' });
  const { nextIs, flag, lastPage, marker, total, pageIs } = paging.end;
  const ends = nextIs.length + pageIs.length + [flag, lastPage, marker, total].filter((each) => each !== undefined).length;
  if (ends === 0) node.at('end').problem('paging-end', 'Nothing says what ends the walk.');
  if (nextIs.length > 0 && paging.next.length === 0 && paging.follow === undefined) {
    node.at('end').at('nextIs').problem('paging-conflict', 'nextIs looks at next or follow, and neither is there.');
  }
  if (paging.next.some(({ name }) => name === paging.counter?.name)) {
    node.at('counter').at('name').problem('duplicate-name', 'A part of next has the same name.');
  }
  checkPartsAreSent(draft, paging, node);
}

function checkPartsAreSent(draft: Draft, paging: PagingRules, node: SpecNode): void {
  const sent = new Set(draft.uses.filter(({ slot, stage }) => slot.root === 'next' && stage !== 'open').map(({ slot }) => slot.path[0]));
  const named = node
    .at('next')
    .list()
    .map((part, index) => [paging.next[index]?.name, part] as const);
  const counter = node.maybe('counter');
  for (const [name, part] of counter === undefined ? named : [...named, [paging.counter?.name, counter] as const]) {
    if (name !== undefined && name !== '' && !sent.has(name))
      part.problem('paging-unused', `$(next.${name}) stands nowhere, so it is never sent back.`);
  }
}

export function compileConsistency(node: SpecNode): ConsistencyRules {
  const when = node.maybe('when')?.rule(ANSWER_VARIABLES);
  const because = node.maybeText('because');
  return {
    mode: node.at('mode').choice(['SinglePage', 'SnapshotKey', 'SnapshotHandle', 'Keyset', 'Declared']),
    equal: node
      .at('equal')
      .list()
      .map((place) => place.locator()),
    ...(when === undefined ? {} : { when }),
    ...(because === undefined ? {} : { because }),
  };
}

export interface ConsistencyFacts {
  readonly hasOpen: boolean;
  readonly hasOrder: boolean;
}

export function checkConsistency(draft: Draft, rules: ConsistencyRules, facts: ConsistencyFacts): void {
  const node = draft.spec.at('completeness').at('consistency');
  const lacks = (what: string) => node.problem('consistency-basis', `${rules.mode} needs ${what}.`);
  if (rules.mode === 'SnapshotKey' && rules.equal.length === 0) lacks('equal: the values that must not change from page to page');
  if (rules.mode === 'SnapshotHandle' && !facts.hasOpen) lacks('http.open, whose handle every page is read under');
  if (rules.mode === 'Keyset' && !facts.hasOrder) lacks('result.order, which is checked on the rows');
  if (rules.mode === 'Declared' && (rules.because ?? '').trim() === '') lacks('because: the owner answers for it');
}

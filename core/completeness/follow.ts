/**
 * A URL of the remote as the next request (`paging.follow`). The credential goes with it, so it is judged, never
 * repaired: same origin, the path just asked or one the contract lists, every other query value unchanged.
 */
import type { CompiledContract, PagingRules } from '#core/contract/compiled.ts';
import type { Answer } from './answer.ts';
import { readFirst } from './locator.ts';
import { endOf } from './next-part.ts';

export type Followed = { readonly says: 'more'; readonly target: string } | { readonly says: 'end' | 'missing' | 'refused' | 'repeated' };

/** Undefined when the contract does not follow. `origin` is the canonical origin of this source. */
export function readFollow(paging: PagingRules, origin: string, asked: string | undefined, answer: Answer): Followed | undefined {
  if (paging.follow === undefined) return undefined;
  const reading = readFirst(paging.follow.from, answer.exchange, answer.lastItem);
  if (reading.kind === 'unusable') return { says: 'refused' };
  const end = endOf(reading, undefined);
  if (end !== undefined) return { says: paging.end.nextIs.includes(end) ? 'end' : 'missing' };
  if (reading.kind !== 'value' || typeof reading.value !== 'string') return { says: 'refused' };
  const target = permitted(paging.follow, origin, reading.value, answer);
  if (target === undefined) return { says: 'refused' };
  return target === asked ? { says: 'repeated' } : { says: 'more', target };
}

/** The origin a source is asked at: its own, else the contract's. */
export function originOf(contract: CompiledContract, source: string): string {
  const own = contract.completeness.sources?.list.find(({ name }) => name === source)?.origin;
  return own ?? (contract.target.kind === 'http' ? contract.target.request.origin : '');
}

function permitted(follow: NonNullable<PagingRules['follow']>, origin: string, text: string, answer: Answer): string | undefined {
  const { sent } = answer.exchange;
  // A parser deletes tabs and line ends and turns back slashes round: such text is not what it seems to be.
  if (/[\s\\#]|[^\x21-\x7e]/.test(text)) return undefined;
  const url = URL.parse(text, `${origin}${sent.path}`);
  if (url === null || url.origin !== new URL(origin).origin || url.username !== '' || url.password !== '') return undefined;
  if (/(^|\/)(\.|%2e){1,2}(\/|$|\?)/i.test(text.replace(/[?].*$/, ''))) return undefined;
  if (!samePath(url.pathname, sent.path, origin) && !follow.paths.some((path) => matchesPath(path, url.pathname))) return undefined;
  return sameQuery(url.searchParams, sent.query, new Set(follow.vary)) ? `${url.pathname}${url.search}` : undefined;
}

function samePath(pathname: string, sentPath: string, origin: string): boolean {
  return URL.parse(sentPath, origin)?.pathname === pathname;
}

/** An escaped separator, an escape of an escape, a path parameter: one segment here and several to a server that decodes once more. */
const HIDES = /%(?:2f|5c|25|00)|;/i;

/** Whole segments; `*` stands for exactly one, and a pattern that ends in `/` for everything below it. */
function matchesPath(pattern: string, pathname: string): boolean {
  if (HIDES.test(pathname)) return false;
  const below = pattern.endsWith('/');
  const wanted = (below ? pattern.slice(0, -1) : pattern).split('/');
  const given = pathname.split('/');
  const fits = below ? given.length > wanted.length && !given.slice(wanted.length).includes('') : given.length === wanted.length;
  return fits && wanted.every((segment, index) => (segment === '*' ? given[index] !== '' : segment === given[index]));
}

function sameQuery(given: URLSearchParams, sent: Readonly<Record<string, string>>, vary: ReadonlySet<string>): boolean {
  const names = new Set([...Object.keys(sent), ...given.keys()]);
  for (const name of names) {
    if (vary.has(name)) continue;
    if (!Object.hasOwn(sent, name) || !given.has(name) || given.getAll(name).join(',') !== sent[name]) return false;
  }
  return true;
}

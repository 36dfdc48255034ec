/**
 * A remote collection that changes while it is read, and the truth about it. Nothing of the engine is used here:
 * the oracle knows the list at every moment and which rows the caller was given.
 */
import type { JsonValue } from '#core/contract/compiled.ts';
import type { Said } from './drive-walk.ts';

/**
 * `shard`: a row is lost and the answer says so. `mute`: a row is lost and the place that says so is missing.
 * `hidden`: a row is lost and only a total could tell. `unframed`: the last row is cut off and the rest still decodes.
 */
export type Fault = 'busy' | 'limited' | 'denied' | 'expired' | 'cut' | 'html' | 'unframed' | 'shard' | 'mute' | 'hidden' | 'refused';

export interface Scenario {
  /** How the next page is named: by an opaque token, by an offset, by the key of the last row. */
  readonly style: 'token' | 'offset' | 'keyset';
  /** Whether tokens read the list as it was on the first page, or as it is now. */
  readonly frozen: boolean;
  readonly count: number;
  /** Page sizes the remote chooses, cycled; 0 is an empty page in the middle of a token walk. */
  readonly sizes: readonly number[];
  readonly mutations: readonly { readonly afterAsk: number; readonly kind: 'insert' | 'delete' | 'swap'; readonly at: number }[];
  /** Asks, from 0, that meet a fault; `lasting` ones meet it from then on. */
  readonly faults: readonly { readonly ask: number; readonly kind: Fault; readonly lasting: boolean }[];
  /** The remote ends its walks here as if that were all. */
  readonly cap: number | undefined;
  /** How the end is spelled, and whether a flag and a total come along. */
  readonly end: 'absent' | 'null' | 'empty' | 'same';
  readonly flag: boolean;
  readonly total: boolean;
}

interface Item {
  readonly id: number;
}

export class SimulatedRemote {
  readonly #scenario: Scenario;
  readonly #versions: (readonly Item[])[];
  #asks = 0;
  #nextId: number;
  #firstVersion: number | undefined;
  #lastVersion = 0;
  /** The ids the list held during the whole walk, and those it ever held in it. */
  #always: Set<number> = new Set();
  readonly #ever: Set<number> = new Set();

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#versions = [Array.from({ length: scenario.count }, (_, index) => ({ id: index * 10 }))];
    this.#nextId = scenario.count * 10;
  }

  /** Answers one request; `asked` is what the engine sends back, `undefined` on the first page. */
  answer(asked: JsonValue | undefined): Said {
    const ask = this.#asks;
    this.#asks += 1;
    const fault = this.#scenario.faults.find((candidate) => (candidate.lasting ? ask >= candidate.ask : candidate.ask === ask))?.kind;
    const said = this.#faulty(fault) ?? this.#page(asked, ask, fault);
    this.#mutate(ask);
    return said;
  }

  /**
   * Whether the rows given account for the declared snapshot: exactly the list of the first page where a snapshot
   * is promised, everything that was there from the first page to the last where a sorted key is.
   */
  accounts(given: readonly number[]): {
    readonly missing: readonly number[];
    readonly strange: readonly number[];
    readonly twice: boolean;
  } {
    const had = new Set(given);
    const twice = had.size !== given.length;
    if (this.#scenario.style === 'keyset') {
      return { missing: [...this.#always].filter((id) => !had.has(id)), strange: given.filter((id) => !this.#ever.has(id)), twice };
    }
    const declared = (this.#versions[this.#firstVersion ?? 0] ?? []).map(({ id }) => id);
    const known = new Set(declared);
    return { missing: declared.filter((id) => !had.has(id)), strange: given.filter((id) => !known.has(id)), twice };
  }

  #faulty(fault: Fault | undefined): Said | undefined {
    switch (fault) {
      case 'busy':
        return { status: 503, body: { error: 'busy' } };
      case 'limited':
        return { status: 429, headers: { 'retry-after': '3' } };
      case 'denied':
        return { status: 403, body: { error: 'forbidden' } };
      case 'expired':
        return { status: 410, body: { error: 'expired' } };
      case 'refused':
        return { status: 400, body: { items: [], next: null } };
      case 'cut':
        return { fault: 'cut' };
      case 'html':
        return { fault: 'contentType' };
      default:
        return undefined;
    }
  }

  #page(asked: JsonValue | undefined, ask: number, fault: Fault | undefined): Said {
    const { style, sizes, flag, total, cap, mutations } = this.#scenario;
    const version = this.#versionFor();
    const list = this.#ordered(version);
    // A reach is counted from the start of a list; seeking by key in a list that changes has no such place.
    const reach = style === 'keyset' && mutations.length > 0 ? undefined : cap;
    const visible = reach === undefined ? list : list.slice(0, reach);
    const from = this.#position(visible, asked);
    const size = Math.max(style === 'token' ? 0 : 1, sizes[ask % sizes.length] ?? 1);
    const page = visible.slice(from, from + size);
    const to = from + page.length;
    const more = to < visible.length;
    const shown = this.#shown(page, fault);
    return {
      ...(fault === 'unframed' ? { fault } : {}),
      body: {
        version: `v${version}`,
        items: shown.map(({ id }) => ({ id, name: `n${id}` })),
        ...(fault === 'mute' ? {} : { failed: fault === 'shard' ? 1 : 0 }),
        ...(style === 'token' ? this.#token(more, to, asked) : {}),
        ...(flag ? { more } : {}),
        ...(total ? { total: list.length } : {}),
      },
    };
  }

  #shown(page: readonly Item[], fault: Fault | undefined): readonly Item[] {
    if (fault === 'unframed') return page.slice(0, -1);
    // Without a total nothing on the wire tells, and no reader could know.
    const loses = fault === 'shard' || fault === 'mute' || (fault === 'hidden' && this.#scenario.total);
    return loses ? page.slice(1) : page;
  }

  #token(more: boolean, to: number, asked: JsonValue | undefined): Record<string, JsonValue> {
    if (more) return { next: `t${to}.${this.#asks}` };
    if (this.#scenario.end === 'null') return { next: null };
    if (this.#scenario.end === 'empty') return { next: '' };
    return this.#scenario.end === 'same' && asked !== undefined ? { next: asked } : {};
  }

  #versionFor(): number {
    const now = this.#versions.length - 1;
    this.#firstVersion ??= now;
    const version = this.#scenario.frozen ? this.#firstVersion : now;
    this.#lastVersion = version;
    const here = new Set(this.#versions[version]?.map(({ id }) => id));
    this.#always = this.#ever.size === 0 ? here : new Set([...this.#always].filter((id) => here.has(id)));
    for (const id of here) this.#ever.add(id);
    return this.#lastVersion;
  }

  #ordered(version: number): readonly Item[] {
    const list = this.#versions[version] ?? [];
    return this.#scenario.style === 'keyset' ? [...list].sort((left, right) => left.id - right.id) : list;
  }

  #position(list: readonly Item[], asked: JsonValue | undefined): number {
    if (asked === undefined) return 0;
    if (typeof asked === 'string' && asked.startsWith('t')) return Number(asked.slice(1).split('.')[0]);
    const value = Number(asked);
    if (this.#scenario.style === 'offset') return value;
    const at = list.findIndex(({ id }) => id > value);
    return at === -1 ? list.length : at;
  }

  #mutate(ask: number): void {
    for (const { afterAsk, kind, at } of this.#scenario.mutations) {
      if (afterAsk !== ask) continue;
      const list = [...(this.#versions.at(-1) ?? [])];
      const place = list.length === 0 ? 0 : at % list.length;
      if (kind === 'insert') {
        // Between two old ids, so that a walk by key may or may not have passed the place.
        list.splice(place, 0, { id: (list[place]?.id ?? this.#nextId) + 1 + this.#versions.length / 1000 });
        this.#nextId += 10;
      } else if (kind === 'delete') list.splice(place, 1);
      else if (list.length > 1) {
        const other = (place + 1) % list.length;
        const [left, right] = [list[place], list[other]];
        if (left !== undefined && right !== undefined) {
          list[place] = right;
          list[other] = left;
        }
      }
      this.#versions.push(list);
    }
  }
}

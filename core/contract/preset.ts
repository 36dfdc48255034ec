/**
 * Presets: a partial contract merged under one (contract language, section 2.6).
 *
 * Override rule: `headers` and `query` merge by key; named lists merge by name, the contract's entries first; every other block the
 * upper layer mentions replaces the lower one whole. Merging deeper gave `mode: SinglePage` the preset's `when`.
 * `result.fields` is replaced whole although its entries have names: what may leave is what the contract lists, nothing more.
 *
 * Where each part was written is kept, so that a problem names the preset's line and `contract explain` shows every line's origin.
 */
import { isList, isObject, type JsonObject, memberOf } from '#core/completeness/path.ts';
import { digestOf } from '#core/encoding/canonical.ts';
import type { JsonValue } from './compiled.ts';
import { nearestName } from './nearest.ts';
import { plainText } from './plain-text.ts';
import { Report, type Written } from './report.ts';
import type { ResourceObject } from './resource-object.ts';
import { SpecNode } from './spec-node.ts';
import type { SpecPath } from './spec-path.ts';

export interface Merged {
  /** The contract's spec with the presets under it, before defaults. */
  readonly spec: JsonObject;
  /** Where the member at this path of the merged spec was written. Paths begin with `spec`. */
  written(path: SpecPath): Written;
  readonly presets: readonly { readonly name: string; readonly digest: string }[];
  /** The preset and its base, as far as they are there. */
  readonly layers: readonly ResourceObject[];
  readonly report: Report;
}

/** Named lists by the block they stand in. */
const NAMED_LISTS: Readonly<Record<string, readonly string[]>> = {
  result: ['outcomes'],
  completeness: ['required', 'signals', 'notices', 'totals', 'freshness'],
};
const KEYED_MAPS: readonly string[] = ['headers', 'query'];
/** Two names of one choice: whoever makes the choice makes it whole. */
const ALTERNATIVES: Readonly<Record<string, string>> = { items: 'object', object: 'items', fields: 'allFields', allFields: 'fields' };

export function mergePresets(contract: ResourceObject, presets: readonly ResourceObject[]): Merged {
  const report = new Report((path) => ({ kind: contract.kind, name: contract.name, path, ...sourceOf(contract) }));
  const layers = layersOf(contract, presets, report);
  const origins = new Map<string, Written>();
  const drop = new Dropped(contract, layers, report);
  const spec: Record<string, JsonValue> = Object.assign(Object.create(null), contract.spec);
  const merge = new Merge(layers, origins, drop, report);
  const below = layers.slice(1);
  for (const block of ['result', 'completeness']) {
    if (below.some((layer) => isObject(memberOf(layer.spec, block)))) spec[block] = merge.block(block);
  }
  if (isObject(spec.http) && below.some((layer) => isObject(memberOf(layer.spec, 'http')))) spec.http = merge.block('http');
  return {
    spec,
    report,
    layers: below,
    presets: below.map((layer) => ({ name: layer.name, digest: digestOf('preset', { name: layer.name, spec: layer.spec }) })),
    written: (path) => find(origins, path) ?? { kind: contract.kind, name: contract.name, path, ...sourceOf(contract) },
  };
}

function sourceOf(object: ResourceObject): Pick<Written, 'source'> {
  return object.source === undefined ? {} : { source: object.source };
}

const keyOf = (path: SpecPath): string => JSON.stringify(path);

function find(origins: ReadonlyMap<string, Written>, path: SpecPath): Written | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const written = origins.get(keyOf(path.slice(0, length)));
    if (written !== undefined) return { ...written, path: [...written.path, ...path.slice(length)] };
  }
  return undefined;
}

/** The contract, its preset and the preset's base, in this order. */
function layersOf(contract: ResourceObject, presets: readonly ResourceObject[], report: Report): readonly ResourceObject[] {
  const spec = new SpecNode(contract.spec, ['spec'], report);
  const name = spec.at('completeness').maybeText('preset');
  if (name === undefined) return [contract];
  const preset = findPreset(name, presets, spec.at('completeness').at('preset'));
  if (preset === undefined) return [contract];
  const own = new Report((path) => ({ kind: preset.kind, name: preset.name, path, ...sourceOf(preset) }));
  const baseNode = new SpecNode(preset.spec, ['spec'], own).at('base');
  const base = typeof baseNode.value === 'string' ? presets.find((each) => each.name === baseNode.value) : undefined;
  if (baseNode.present && base === undefined) {
    report.add(
      ['spec', 'completeness', 'preset'],
      'preset-unknown',
      `The preset ${name} is based on ${JSON.stringify(baseNode.value)}, which is not there.`,
    );
  }
  if (base !== undefined && Object.hasOwn(base.spec, 'base')) {
    report.add(['spec', 'completeness', 'preset'], 'preset-base', `The preset ${name} is based on ${base.name}, which has a base itself.`);
  }
  return base === undefined ? [contract, preset] : [contract, preset, base];
}

function findPreset(name: string, presets: readonly ResourceObject[], node: SpecNode): ResourceObject | undefined {
  const found = presets.find((preset) => preset.name === name);
  if (found !== undefined) return found;
  const nearest = nearestName(
    name,
    presets.map((preset) => preset.name),
  );
  node.problem('preset-unknown', `There is no preset ${JSON.stringify(name)}.`, { nearest });
  return undefined;
}

/** The rules a contract drops from its preset, by list and name. */
class Dropped {
  readonly #names = new Set<string>();

  constructor(contract: ResourceObject, layers: readonly ResourceObject[], report: Report) {
    for (const entry of new SpecNode(contract.spec, ['spec'], report).at('completeness').at('without').list()) {
      const list = entry.at('list').text();
      const name = entry.at('name').text();
      const known = layers.slice(1).flatMap((layer) => namesIn(layer, list));
      if (!known.includes(name)) {
        entry
          .at('name')
          .problem('preset-without', `The preset has no ${JSON.stringify(name)} in ${list}.`, { nearest: nearestName(name, known) });
      }
      const because = entry.maybeText('because') ?? '';
      if (because.trim() === '') entry.at('because').problem('preset-without', 'A rule is dropped without a reason.');
      entry.problem('preset-weakened', `The preset's rule ${name} in ${list} is dropped.`);
      this.#names.add(`${list} ${name}`);
    }
  }

  has(list: string, name: JsonValue | undefined): boolean {
    return this.#names.has(`${list} ${plainText(name)}`);
  }
}

function namesIn(layer: ResourceObject, list: string): readonly string[] {
  const block = list === 'outcomes' ? memberOf(layer.spec, 'result') : memberOf(layer.spec, 'completeness');
  const holder = list === 'next' && isObject(block) ? memberOf(block, 'paging') : block;
  const entries = isObject(holder) ? memberOf(holder, list) : undefined;
  return namedEntries(entries).map(([name]) => plainText(name));
}

function namedEntries(list: JsonValue | undefined): readonly (readonly [JsonValue | undefined, JsonValue, number])[] {
  if (!isList(list ?? null)) return [];
  return (list as readonly JsonValue[]).map(
    (entry, index) => [isObject(entry) ? memberOf(entry, 'name') : undefined, entry, index] as const,
  );
}

class Merge {
  readonly #layers: readonly ResourceObject[];
  readonly #origins: Map<string, Written>;
  readonly #dropped: Dropped;
  readonly #report: Report;

  constructor(layers: readonly ResourceObject[], origins: Map<string, Written>, dropped: Dropped, report: Report) {
    this.#report = report;
    this.#layers = layers;
    this.#origins = origins;
    this.#dropped = dropped;
  }

  block(name: string): JsonValue {
    const merged: Record<string, JsonValue> = Object.create(null);
    for (const [depth, layer] of this.#layers.entries()) {
      const block = memberOf(layer.spec, name);
      if (!isObject(block)) continue;
      // A choice made above is not made again; within one layer both alternatives stay, and the compiler reports them.
      const above = new Set(Object.keys(merged));
      for (const [field, value] of Object.entries(block)) {
        if (above.has(ALTERNATIVES[field] ?? '')) continue;
        const taken = this.#field(merged[field], value, depth, ['spec', name, field]);
        if (taken !== undefined) merged[field] = taken;
      }
    }
    return merged;
  }

  #field(held: JsonValue | undefined, value: JsonValue, depth: number, path: SpecPath): JsonValue | undefined {
    const [, name, field] = path as readonly [string, string, string];
    if (NAMED_LISTS[name]?.includes(field)) return this.#names(held, value, depth, path);
    if (name === 'http' && KEYED_MAPS.includes(field) && isObject(value)) return this.#keys(held, value, depth, path);
    return held === undefined ? this.#whole(value, depth, path) : undefined;
  }

  #wrote(depth: number, merged: SpecPath, written: SpecPath): void {
    const layer = this.#layers[depth];
    if (layer !== undefined) this.#origins.set(keyOf(merged), { kind: layer.kind, name: layer.name, path: written, ...sourceOf(layer) });
  }

  /** A block taken whole; only `paging.next` may lose entries by `without`. */
  #whole(value: JsonValue, depth: number, path: SpecPath): JsonValue {
    if (depth > 0) this.#wrote(depth, path, path);
    if (depth === 0 || path.at(-1) !== 'paging' || !isObject(value) || !isList(value.next ?? null)) return value;
    const kept = namedEntries(value.next).filter(([name]) => !this.#dropped.has('next', name));
    for (const [position, [, , index]] of kept.entries()) this.#wrote(depth, [...path, 'next', position], [...path, 'next', index]);
    return { ...value, next: kept.map(([, entry]) => entry) };
  }

  #keys(held: JsonValue | undefined, value: JsonObject, depth: number, path: SpecPath): JsonValue {
    if (held === undefined) this.#wrote(depth, path, path);
    const merged: Record<string, JsonValue> = Object.assign(Object.create(null), isObject(held) ? held : {});
    const known = new Set(Object.keys(merged).map((key) => (path.at(-1) === 'headers' ? key.toLowerCase() : key)));
    for (const [key, entry] of Object.entries(value)) {
      if (known.has(path.at(-1) === 'headers' ? key.toLowerCase() : key)) continue;
      merged[key] = entry;
      if (depth > 0) this.#wrote(depth, [...path, key], [...path, key]);
    }
    return merged;
  }

  /** A rule of the same name is no way around `without` and its reason. Outcomes are ordered, so the contract's come first anyway. */
  #replaced(depth: number, name: JsonValue | undefined, path: SpecPath): void {
    const list = String(path.at(-1));
    const written = memberOf(this.#layers[0]?.spec ?? {}, String(path[1]));
    const own = namedEntries(isObject(written) ? memberOf(written, list) : undefined).find(([each]) => each === name);
    if (list === 'outcomes' || own === undefined) return;
    const by = this.#layers[depth]?.name ?? '';
    this.#report.add([...path, own[2]], 'preset-weakened', `The rule ${plainText(name)} of ${by} is replaced.`);
  }

  #names(held: JsonValue | undefined, value: JsonValue, depth: number, path: SpecPath): JsonValue {
    if (!isList(value)) return held ?? value;
    if (held === undefined) this.#wrote(depth, path, path);
    const merged = isList(held ?? null) ? [...(held as readonly JsonValue[])] : [];
    const known = new Set(namedEntries(merged).map(([name]) => name));
    for (const [name, entry, index] of namedEntries(value)) {
      if (depth > 0 && known.has(name)) this.#replaced(depth, name, path);
      if (depth > 0 && (known.has(name) || this.#dropped.has(String(path.at(-1)), name))) continue;
      this.#wrote(depth, [...path, merged.length], [...path, index]);
      merged.push(entry);
    }
    return merged;
  }
}

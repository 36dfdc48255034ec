/** The whole of what a contract says: its own lines, those of its presets and the defaults, with the origin of each. */
import type { JsonObject } from '#core/completeness/path.ts';
import type { JsonValue } from './compiled.ts';
import { fillDefaults } from './defaults.ts';
import { mergePresets } from './preset.ts';
import type { ObjectSource, ResourceObject } from './resource-object.ts';
import { type SpecPath, showPath } from './spec-path.ts';

export type Origin =
  | { readonly kind: 'contract'; readonly source?: ObjectSource; readonly path: SpecPath }
  | { readonly kind: 'preset'; readonly name: string; readonly source?: ObjectSource; readonly path: SpecPath }
  | { readonly kind: 'default' };

export interface MergedSpec {
  readonly spec: JsonObject;
  /** `path` begins with `spec`. */
  originOf(path: SpecPath): Origin;
}

export function mergedSpec(contract: ResourceObject, presets: readonly ResourceObject[]): MergedSpec {
  const merged = mergePresets(contract, presets);
  const { spec, filled } = fillDefaults(merged.spec);
  const defaults = new Set(filled.map((path) => JSON.stringify(path)));
  const isDefault = (path: SpecPath) => path.some((_, index) => defaults.has(JSON.stringify(path.slice(1, index + 1))));
  return {
    spec,
    originOf: (path) => {
      if (isDefault(path)) return { kind: 'default' };
      const { kind, name, source, path: written } = merged.written(path);
      const place = { path: written, ...(source === undefined ? {} : { source }) };
      return kind === 'ContractPreset' ? { kind: 'preset', name, ...place } : { kind: 'contract', ...place };
    },
  };
}

/** What the compiler filled in, by path as a person writes it, at most `max` entries. A whole block filled in stands as one entry. */
export function filledDefaults(
  contract: ResourceObject,
  presets: readonly ResourceObject[],
  max: number,
): Readonly<Record<string, JsonValue>> {
  const { spec, filled } = fillDefaults(mergePresets(contract, presets).spec);
  const shown: Record<string, JsonValue> = {};
  const blocks = new Set<string>();
  for (const path of filled) {
    if (path.some((_, index) => index > 0 && blocks.has(showPath(path.slice(0, index))))) continue;
    if (Object.keys(shown).length === max) break;
    blocks.add(showPath(path));
    shown[showPath(path)] = valueAt(spec, path);
  }
  return shown;
}

function valueAt(spec: JsonObject, path: SpecPath): JsonValue {
  let value: JsonValue = spec;
  for (const step of path) value = (value as Readonly<Record<string | number, JsonValue>>)[step] ?? null;
  return value;
}

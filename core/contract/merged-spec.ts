/** The whole of what a contract says: its own lines, those of its presets and the defaults, with the origin of each. */
import type { JsonObject } from '#core/completeness/path.ts';
import { fillDefaults } from './defaults.ts';
import { mergePresets } from './preset.ts';
import type { ObjectSource, ResourceObject } from './resource-object.ts';
import type { SpecPath } from './spec-path.ts';

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

/** The presets that come with this release, as objects for the compiler; their text is parsed when a contract names them. */
import { shippedPresets } from './gen/presets.ts';
import type { ResourceObject } from './resource-object.ts';

/**
 * The given presets and those of this release. A given one takes the place of a shipped one of its name: else a new
 * release that brings a preset of the same name would change contracts in silence.
 */
export function withShippedPresets(given: readonly ResourceObject[]): readonly ResourceObject[] {
  const names = new Set(given.map(({ name }) => name));
  return [...given, ...shippedPresetObjects().filter(({ name }) => !names.has(name))];
}

export function shippedPresetObjects(): readonly ResourceObject[] {
  return Object.entries(shippedPresets).map(([name, shipped]) => ({
    kind: 'ContractPreset',
    name,
    namespace: 'default',
    get spec() {
      return shipped.spec;
    },
  }));
}

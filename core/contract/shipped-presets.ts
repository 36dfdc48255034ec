/** The presets that come with this release, as objects for the compiler; their text is parsed when a contract names them. */
import { shippedPresets } from './gen/presets.ts';
import type { ResourceObject } from './resource-object.ts';

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

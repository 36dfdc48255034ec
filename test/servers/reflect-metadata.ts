/**
 * The three functions of the Reflect metadata proposal that tsyringe, inside @peculiar/x509, calls
 * when it is loaded; without them the import throws. Imported before it, for this effect only.
 * Does nothing where a full polyfill is already there.
 */
type Key = string | symbol;

const metadata = new WeakMap<object, Map<unknown, unknown>>();

function getOwn(key: unknown, target: object, property?: Key): unknown {
  return metadata.get(target)?.get(slot(key, property));
}

// One map a target; a property's entries are kept apart by a composed key.
function slot(key: unknown, property: Key | undefined): unknown {
  return property === undefined ? key : `${String(property)}\u0000${String(key)}`;
}

const functions = {
  defineMetadata(key: unknown, value: unknown, target: object, property?: Key): void {
    const own = metadata.get(target) ?? new Map<unknown, unknown>();
    metadata.set(target, own.set(slot(key, property), value));
  },
  getOwnMetadata: getOwn,
  getMetadata(key: unknown, target: object, property?: Key): unknown {
    for (let at: object | null = target; at !== null; at = Object.getPrototypeOf(at) as object | null) {
      const value = getOwn(key, at, property);
      if (value !== undefined) return value;
    }
    return undefined;
  },
};

if (!('getMetadata' in Reflect)) Object.assign(Reflect, functions);

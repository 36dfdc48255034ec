/** Where two JSON values differ first; object keys in any order. */

export interface DifferenceOptions {
  /** Paths of objects that may have more members than expected, without a leading dot. */
  readonly open?: readonly string[];
}

/** Path of the first difference, as in the API (`resources.limits.cpu`, `args[2]`); empty for the value itself; undefined when equal. */
export function firstDifference(found: unknown, expected: unknown, options: DifferenceOptions = {}, path = ''): string | undefined {
  if (Object.is(found, expected)) return undefined;
  if (Array.isArray(found) && Array.isArray(expected)) return listDifference(found, expected, options, path);
  if (isObject(found) && isObject(expected)) return objectDifference(found, expected, options, path);
  return path;
}

function listDifference(
  found: readonly unknown[],
  expected: readonly unknown[],
  options: DifferenceOptions,
  path: string,
): string | undefined {
  for (let index = 0; index < Math.max(found.length, expected.length); index += 1) {
    const at = `${path}[${index}]`;
    if (index >= found.length || index >= expected.length) return at;
    const difference = firstDifference(found[index], expected[index], options, at);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

type JsonMap = Readonly<Record<string, unknown>>;

function objectDifference(found: JsonMap, expected: JsonMap, options: DifferenceOptions, path: string): string | undefined {
  const open = options.open?.includes(path) ?? false;
  for (const name of new Set([...Object.keys(expected), ...(open ? [] : Object.keys(found))])) {
    const at = path === '' ? name : `${path}.${name}`;
    if (!Object.hasOwn(found, name) || !Object.hasOwn(expected, name)) return at;
    const difference = firstDifference(found[name], expected[name], options, at);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function isObject(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Values as text of CEL, the language of the API server's admission policies. */

/** A literal: text, integers, booleans, null, and lists and maps of them. JSON's escapes are a subset of CEL's. */
export function celLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(celLiteral).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${entries.map(([key, member]) => `${JSON.stringify(key)}: ${celLiteral(member)}`).join(', ')}}`;
  }
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw new TypeError('only integers are written as CEL here');
  return JSON.stringify(value);
}

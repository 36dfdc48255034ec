/** Values as text of CEL, the language of the API server's admission policies. */

/**
 * A literal: text, integers, booleans, null, and lists and maps of them. JSON's escapes are a subset of CEL's. The API server demands
 * that all members of a literal have one type, so whatever is not plain text is marked `dyn`.
 */
export function celLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(celMember).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, member]) => member !== undefined);
    const member = entries.every(([, each]) => typeof each === 'string') ? celLiteral : celDynamic;
    return `{${entries.map(([key, each]) => `${JSON.stringify(key)}: ${member(each)}`).join(', ')}}`;
  }
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw new TypeError('only integers are written as CEL here');
  return JSON.stringify(value);
}

function celMember(value: unknown): string {
  return typeof value === 'object' ? celDynamic(value) : celLiteral(value);
}

function celDynamic(value: unknown): string {
  return `dyn(${celLiteral(value)})`;
}

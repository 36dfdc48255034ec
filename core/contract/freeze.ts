/** What the compiler made is shared by every call, so nothing may change it. */

/** Freezes plain data; compiled rules and patterns hold engines of their own and are frozen at their surface only. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  const hasEngine = Object.values(value).some((member) => typeof member === 'function');
  if (!hasEngine) for (const member of Object.values(value)) deepFreeze(member);
  return value;
}

/** The first condition that says something is wrong, in its own words. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** `wanted` must be True, `unwanted` must not be; the order is the order of importance. */
export function badCondition(
  conditions: readonly Condition[] | undefined,
  wanted: readonly string[],
  unwanted: readonly string[] = [],
): string | undefined {
  const find = (type: string) => (conditions ?? []).find((condition) => condition.type === type);
  for (const type of wanted) {
    const condition = find(type);
    if (condition !== undefined && condition.status !== 'True') return `${condition.reason}: ${condition.message}`;
  }
  for (const type of unwanted) {
    const condition = find(type);
    if (condition?.status === 'True') return `${condition.reason}: ${condition.message}`;
  }
  return undefined;
}

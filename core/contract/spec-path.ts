/**
 * Where something stands in an object: `spec.http.query["team_ids[]"]`, `spec.result.outcomes[2].when`.
 */
export type SpecPath = readonly (string | number)[];

const PLAIN = /^[A-Za-z_$][A-Za-z0-9_$-]*$/;

/** The path as people read it; names that would be ambiguous are quoted. */
export function showPath(path: SpecPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!PLAIN.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}

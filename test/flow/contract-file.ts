/**
 * Contract files for tests of a whole sidecar. What all of them repeat is written here, so that a test shows only what it
 * is about: one binding `reader` with the Secret `postern-flow`, good for UPSTREAM, and contracts of the namespace `flow`.
 */

/** `specs`: name of a contract to the rest of its spec in YAML, indented by two. `effect` is Read unless the rest says otherwise. */
export function contractFile(specs: Readonly<Record<string, string>>): string {
  const names = Object.keys(specs);
  return [binding(names), ...names.map((name) => contract(name, specs[name] ?? ''))].join('\n---\n');
}

function binding(names: readonly string[]): string {
  return `apiVersion: postern.dev/v1alpha1
kind: CredentialBinding
metadata: {name: reader, namespace: flow}
spec:
  owner: flow
  secret: {name: postern-flow}
  contracts: [${names.join(', ')}]
  destinations: [{origin: "UPSTREAM", transport: Plaintext, addresses: [127.0.0.1/32]}]
  use: {bearer: {key: token}}`;
}

function contract(name: string, rest: string): string {
  const effect = /^ {2}effect:/m.test(rest) ? '' : '  effect: Read\n';
  return `apiVersion: postern.dev/v1alpha1
kind: ActionContract
metadata: {name: ${name}, namespace: flow}
spec:
  action: ${name.replaceAll('-', '_')}
  owner: flow
${effect}  callers: [{serviceAccount: agent}]
  credentials: [reader]
${rest.replace(/^\n/, '').trimEnd()}`;
}

/** A list sorted by id whose answers say where the next page begins; `more` goes below `completeness`. */
export function keysetList(more: string): string {
  return `  result: {items: [/items], as: rows, id: [/id], order: {by: /id, direction: Ascending, compare: Number}, fields: [{name: id}, {name: text, presence: Optional}]}
  completeness:
    paging: {next: [{name: after, from: [{body: /next}]}], end: {nextIs: [NullValue]}}
    consistency: {mode: Keyset, because: rows are sorted by id}
    scope: {resource: rows, visibility: all, absence: Provable}
    ${more}`;
}

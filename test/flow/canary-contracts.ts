/** One binding for each kind of credential, and for each a contract with each decoder that lets everything through. */
import { shapeNames } from './echo-upstream.ts';

export const BINDINGS = {
  bearer: '{bearer: {key: token}}',
  header: '{header: {name: x-api-key, prefix: "Key ", key: token}}',
  basic: '{basic: {usernameKey: user, passwordKey: password}}',
  oauth2: '{oauth2ClientCredentials: {tokenUrl: "TOKENS/token/basic", clientIdKey: user, clientSecretKey: password}}',
  posted: '{oauth2ClientCredentials: {tokenUrl: "TOKENS/token/body", clientIdKey: user, clientSecretKey: password, authentication: Body}}',
  refused: '{oauth2ClientCredentials: {tokenUrl: "TOKENS/token/refused", clientIdKey: user, clientSecretKey: password}}',
  sigv4: '{awsSigV4: {accessKeyIdKey: user, secretAccessKeyKey: password, sessionTokenKey: token}}',
} as const;

export type BindingName = keyof typeof BINDINGS;
export const bindingNames = Object.keys(BINDINGS) as readonly BindingName[];
export const decoders = ['json', 'xml', 'ndjson', 'lines'] as const;

/** `tokens`: origin of the token endpoints, the upstream behind TLS. */
export function canaryContracts(tokens: string): string {
  return bindingNames
    .flatMap((name) => [binding(name), ...decoders.map((decoder) => echoContract(name, decoder)), reflectContract(name)])
    .join('\n---\n')
    .replaceAll('TOKENS', tokens);
}

function binding(name: BindingName): string {
  return `apiVersion: postern.dev/v1alpha1
kind: CredentialBinding
metadata: {name: ${name}, namespace: flow}
spec:
  owner: flow
  secret: {name: postern-${name}}
  contracts: [${[...decoders, 'reflect'].map((decoder) => `${name}-${decoder}`).join(', ')}]
  destinations:
  - {origin: "UPSTREAM", transport: Plaintext, addresses: [127.0.0.1/32]${name === 'sigv4' ? ', signing: {service: execute-api, region: us-east-1}' : ''}}
${BINDINGS[name].includes('TOKENS') ? '  - {origin: "TOKENS", addresses: [127.0.0.1/32], ca: {key: ca.crt}}\n' : ''}  use: ${BINDINGS[name]}`;
}

const HEAD = (name: string, credential: string) => `apiVersion: postern.dev/v1alpha1
kind: ActionContract
metadata: {name: ${name}, namespace: flow}
spec:
  action: ${name.replaceAll('-', '_')}
  summary: Echo
  owner: flow
  effect: Read
  callers: [{serviceAccount: agent}]
  credentials: [${credential}]`;

const RESULTS: Readonly<Record<(typeof decoders)[number], string>> = {
  json: 'items: [/items], as: rows, id: [/id]',
  xml: 'decoder: XML, items: [/list/row], as: rows, id: [/id]',
  ndjson: 'decoder: NDJSON, items: [/], as: rows',
  lines: 'decoder: Lines, items: [/], as: rows',
};

/** Upstream text goes wherever a contract can make it go: rows, cursor, snapshot, notices, ages, unknown values. */
function echoContract(binding: BindingName, decoder: (typeof decoders)[number]): string {
  const rich = `paging: {next: [{name: after, from: [{body: /next}, {link: next, query: after}]}], end: {nextIs: [NullValue]}}
    consistency: {mode: SnapshotKey, equal: [{body: /snapshot}, {header: etag}]}
    signals: [{name: notes, table: {values: "has(body.notes) ? body.notes : []", entries: [{prefix: note, warning: noted}], otherwise: SOURCE_UNAVAILABLE}}]
    notices: [{name: always, warning: noted, when: "body.age == body.snapshot"}]
    freshness: [{name: age, from: {body: /age}, unit: Seconds, maxAge: 1s, warning: stale}]`;
  const warnings = `
  warnings:
  - {name: noted, code: UPSTREAM_NOTICE, owner: flow, expires: "2027-11-30", message: Noted}
  - {name: stale, code: STALE_INDEX, owner: flow, expires: "2027-11-30", message: Old}`;
  return `${HEAD(`${binding}-${decoder}`, binding)}
  arguments: {type: object, additionalProperties: false, required: [shape], properties: {shape: {type: string, enum: [${shapeNames.join(', ')}]}}}
  http: {credential: ${binding}, method: GET, url: "UPSTREAM/${binding}/${decoder}/$(args.shape)"${decoder === 'json' ? ', query: {after: "$(next.after)"}' : ''}}
  result: {${RESULTS[decoder]}, allFields: {because: everything an upstream may say shall pass}}
  completeness:
    ${decoder === 'json' ? rich : 'paging: {mode: SingleResponse}'}
    limits: {pages: 4, items: 1000, time: 20s}
    scope: {resource: echoes, visibility: all, absence: Never}${decoder === 'json' ? warnings : ''}`;
}

/** The caller's own words come back, beside the headers of the request. */
function reflectContract(binding: BindingName): string {
  return `${HEAD(`${binding}-reflect`, binding)}
  arguments: {type: object, additionalProperties: false, required: [words], properties: {words: {type: string, maxLength: 900}}}
  http: {credential: ${binding}, method: GET, url: "UPSTREAM/${binding}/reflect", query: {words: "$(args.words)"}}
  result: {object: /, as: echo, allFields: {because: everything an upstream may say shall pass}}
  completeness: {limits: {time: 20s}, scope: {resource: an echo, visibility: all, absence: Never}}`;
}

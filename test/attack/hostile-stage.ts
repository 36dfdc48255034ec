/** A whole sidecar in front of a server that plays bytes as they are told, with the reference contracts of the hostile corpus. */
import type { Socket } from 'node:net';
import { type Stage, startStage } from '#test/flow/stage.ts';
import { type RawServer, startRawServer } from '#test/sidecar/execute/http/raw-server.ts';

export const CREDENTIAL = 'SYN/secret+value=42~';

const COMMON = 'owner: attack\n  effect: Read\n  callers: [{serviceAccount: agent}]\n  credentials: [reader]';
const contract = (name: string, rest: string) => `
---
apiVersion: postern.dev/v1alpha1
kind: ActionContract
metadata: {name: ${name}, namespace: attack}
spec:
  action: ${name.replaceAll('-', '_')}
  summary: Read
  ${COMMON}
${rest.replaceAll(/^(?=.)/gm, '  ')}`;
const scope = 'completeness: {limits: {time: 8s, bytes: 64Ki}, scope: {resource: it, visibility: all, absence: Never}}';
const object = `result: {object: /, as: it, allFields: {because: a test}}\n${scope}`;
const closed = 'type: object, additionalProperties: false';

/** `ref.ship`, `ref.item`, `ref.find`, `ref.count` and a list. */
export const CONTRACTS = `
apiVersion: postern.dev/v1alpha1
kind: CredentialBinding
metadata: {name: reader, namespace: attack}
spec:
  owner: attack
  secret: {name: postern-attack}
  contracts: [ship, get-item, find, count, list]
  destinations: [{origin: "UPSTREAM", transport: Plaintext, addresses: [127.0.0.1/32]}]
  use: {bearer: {key: token}}
${contract(
  'ship',
  `readOnlyBecause: a test\narguments: {${closed}, required: [component, zone, build, note], properties: {component: {type: string, enum: [api, worker]}, zone: {type: string, enum: [lab, live]}, build: {type: string, pattern: "^[0-9]{1,5}$", maxLength: 5}, note: {type: string, maxLength: 200, x-postern-max-bytes: 800, x-postern-text: {render: plain}}}}
http: {credential: reader, method: POST, url: "UPSTREAM/v1/ship", body: {json: {c: $(args.component), z: $(args.zone), b: $(args.build), n: $(args.note)}}}
${object}`,
)}
${contract(
  'get-item',
  `arguments: {${closed}, required: [item], properties: {item: {type: string, maxLength: 200}}}
http: {credential: reader, method: GET, url: "UPSTREAM/v1/boxes/$(args.item)/keys"}
${object}`,
)}
${contract(
  'find',
  `arguments: {${closed}, required: [q], properties: {q: {type: string, maxLength: 200}}}
http: {credential: reader, method: GET, url: "UPSTREAM/v1/find", query: {q: $(args.q)}}
${object}`,
)}
${contract(
  'count',
  `arguments: {${closed}, required: [id], properties: {id: {type: integer}}}
http: {credential: reader, method: GET, url: "UPSTREAM/v1/count/$(args.id)"}
${object}`,
)}
${contract(
  'list',
  `arguments: {${closed}, properties: {}}
http: {credential: reader, method: GET, url: "UPSTREAM/v1/list"}
result: {items: [/], as: rows, id: [/id], allFields: {because: a test}}
${scope.replace('{limits', '{paging: {mode: SingleResponse}, limits')}`,
)}
`;

export type Play = (socket: Socket, head: string) => void;

export interface HostileStage extends Stage {
  readonly server: RawServer;
  /** What the server does with the next request, and the next; the last one stays. */
  play(...steps: Play[]): void;
}

export async function startHostileStage(contracts: string = CONTRACTS, more: Readonly<Record<string, string>> = {}): Promise<HostileStage> {
  let steps: Play[] = [];
  const server = await startRawServer((socket, { head }) => (steps.length > 1 ? steps.shift() : steps[0])?.(socket, head));
  const options = { contracts, upstreamPort: server.port, credentials: { 'postern-attack/token': CREDENTIAL, ...more } };
  const stage = await startStage(options).catch(async (thrown: unknown) => {
    await server[Symbol.asyncDispose]();
    throw thrown;
  });
  return {
    ...stage,
    server,
    play: (...next) => {
      steps = next;
      server.requests.length = 0;
    },
    [Symbol.asyncDispose]: async () => {
      await stage[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A framed answer of JSON. */
export function json(body: string, status = '200 OK', more = ''): string {
  return `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\n${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** What the tests of a controlled sidecar share: an authority, an upstream with items and pages of rows, contracts for both. */
import type { ServerResponse } from 'node:http';
import {
  bundleOf,
  type FakeOperator,
  type FakeOperatorOptions,
  pinOfPem,
  replicaCertificate,
  startFakeOperator,
} from '#test/fakes/operator.ts';
import { createAuthority } from '#test/servers/certificates.ts';
import { contractFile, keysetList } from './contract-file.ts';
import { type ControlledStage, startControlledStage } from './controlled-stage.ts';
import { sendJson, startUpstream, type Upstream } from './stage.ts';

export const ONE = { id: 'one' };

const CREDENTIALS = { 'postern-flow/token': 'flow-token-0123456789' };
const CONTRACTS = contractFile({
  'get-item': `
  summary: Read item $(args.id)
  arguments: {type: object, additionalProperties: false, required: [id], properties: {id: {type: string, enum: [one, two]}}}
  http: {credential: reader, method: GET, url: "UPSTREAM/items/$(args.id)"}
  result: {object: /, as: item, fields: [{name: id}]}
  completeness: {scope: {resource: one item, visibility: all, absence: Never}, limits: {time: 20s}}`,
  'list-rows': `
  summary: List all rows
  arguments: {type: object, additionalProperties: false, properties: {}}
  http: {credential: reader, method: GET, url: UPSTREAM/rows, query: {after: "$(next.after)"}}
${keysetList('limits: {pages: 5, items: 500, time: 10m}')}`,
});

export interface ControlledRig extends AsyncDisposable {
  readonly upstream: Upstream;
  readonly pin: string;
  /** All contracts, active, with a lease of an hour. */
  readonly bundle: ReturnType<typeof bundleOf>;
  /** The YAML of the contracts, changed. */
  contracts(change?: (yaml: string) => string): string;
  /** An operator that greets with the bundle. */
  operator(options?: Partial<FakeOperatorOptions>): Promise<FakeOperator>;
  sidecarOf(operator: FakeOperator, more?: { directory?: string }): Promise<ControlledStage>;
  /** Requests the upstream has had below this path. */
  asked(path: string): number;
  /** From here on pages of rows beyond the first wait; resolves the number that wait. */
  hold(): () => number;
  /** Lets them go, and those that come. */
  release(): void;
}

export async function controlledRig(): Promise<ControlledRig> {
  const authority = await createAuthority();
  const pin = pinOfPem(authority.caPem);
  let held: (() => void)[] = [];
  let holding = false;
  /** Three pages of two rows. */
  const page = (from: number, response: ServerResponse) => {
    const answer = () => sendJson(response, 200, { items: [{ id: from + 1 }, { id: from + 2 }], next: from >= 4 ? null : from + 2 });
    if (holding && from > 0) held.push(answer);
    else answer();
  };
  const upstream = await startUpstream(({ url }, response) => {
    if (url.pathname.startsWith('/items/')) sendJson(response, 200, { id: url.pathname.slice(7) });
    else page(Number(url.searchParams.get('after') ?? 0), response);
  });
  const contracts: ControlledRig['contracts'] = (change = (yaml) => yaml) =>
    change(CONTRACTS).replaceAll('UPSTREAM', `http://127.0.0.1:${upstream.port}`);
  const bundle = bundleOf(contracts());
  return {
    upstream,
    pin,
    bundle,
    contracts,
    operator: async (options = {}) =>
      startFakeOperator({ certificate: await replicaCertificate(authority), greeting: () => [bundle], ...options }),
    sidecarOf: ({ port }, more = {}) => startControlledStage({ port, pin, credentials: CREDENTIALS, ...more }),
    asked: (path) => upstream.requests.filter(({ url }) => url.startsWith(path)).length,
    hold: () => {
      held = [];
      holding = true;
      return () => held.length;
    },
    release: () => {
      holding = false;
      for (const answer of held) answer();
      held = [];
    },
    [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
  };
}

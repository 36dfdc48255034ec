/** One hostile remote as a contract test, written in code: a contract over `/things`, its answers, what the call must come to. */
import assert from 'node:assert/strict';
import { reportFailure } from '#sidecar/contract-test/report.ts';
import type { TestResult } from '#sidecar/contract-test/run-test.ts';
import { replayText } from '#test/completeness/replay-file.ts';

type Json = { readonly [name: string]: unknown };

export interface Attack {
  readonly arguments?: Json;
  readonly http?: Json;
  readonly result?: Json;
  readonly completeness?: Json;
  readonly warnings?: readonly Json[];
  /** Members of the ContractTest: exchanges, expect, resume, deadline, onePage. */
  readonly test: Json;
}

const OBJECT = { apiVersion: 'postern.dev/v1alpha1' };

function resources({ arguments: schema, http, result, completeness, warnings, test }: Attack): readonly Json[] {
  return [
    {
      ...OBJECT,
      kind: 'CredentialBinding',
      metadata: { name: 'reader', namespace: 'attacks' },
      spec: {
        owner: 'team',
        secret: { name: 'postern-example' },
        contracts: ['list-things'],
        destinations: [{ origin: 'https://api.example.test' }],
        use: { bearer: { key: 'token' } },
      },
    },
    {
      ...OBJECT,
      kind: 'ActionContract',
      metadata: { name: 'list-things', namespace: 'attacks' },
      spec: {
        action: 'list_things',
        summary: 'List things',
        owner: 'team',
        effect: 'Read',
        readOnlyBecause: 'opening a handle changes nothing',
        callers: [{ serviceAccount: 'agent' }],
        credentials: ['reader'],
        arguments: schema ?? { type: 'object', additionalProperties: false, properties: {} },
        http: { credential: 'reader', method: 'GET', url: 'https://api.example.test/things', query: { cursor: '$(next.cursor)' }, ...http },
        result: { items: ['/items'], as: 'things', id: ['/id'], fields: [{ name: 'id' }], ...result },
        completeness: {
          paging: { next: [{ name: 'cursor', from: [{ body: '/next' }] }], end: { nextIs: ['Absent', 'NullValue'] } },
          consistency: { mode: 'Declared', because: 'an attack' },
          limits: { pages: 10, items: 1000, time: '30s' },
          scope: { resource: 'things', visibility: 'all', absence: 'Provable' },
          ...completeness,
        },
        ...(warnings === undefined ? {} : { warnings }),
      },
    },
    {
      ...OBJECT,
      kind: 'ContractTest',
      metadata: { name: 'attack', namespace: 'attacks' },
      spec: { contract: 'list-things', arguments: {}, ...test },
    },
  ];
}

/** Fails with the report of the contract test. */
export async function replay(attack: Attack): Promise<TestResult> {
  const text = resources(attack)
    .map((object) => JSON.stringify(object))
    .join('\n---\n');
  const [result, ...more] = await replayText(text, 'attack.yaml');
  assert.ok(result !== undefined && more.length === 0);
  assert.ok(result.passed, reportFailure(result).join('\n'));
  return result;
}

export function ids(...names: readonly string[]): readonly Json[] {
  return names.map((id) => ({ id }));
}

/** A GET of `/things` and its JSON answer. */
export function page(body: unknown, more: { readonly query?: Json; readonly path?: string; readonly response?: Json } = {}): Json {
  return {
    request: { method: 'GET', path: more.path ?? '/things', ...(more.query === undefined ? {} : { query: more.query }) },
    response: { status: 200, headers: { 'content-type': 'application/json' }, body, ...more.response },
  };
}

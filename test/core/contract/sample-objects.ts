/** A contract and a binding without a fault, and ways to break them in one place. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { type CompileResult, compileContract } from '#core/contract/compile.ts';
import type { CompiledContract, JsonValue } from '#core/contract/compiled.ts';
import type { Problem } from '#core/contract/problem.ts';
import { readYaml } from '#core/contract/read-yaml.ts';
import type { Kind, ResourceObject } from '#core/contract/resource-object.ts';

/** The clock of these tests. */
export const NOW_MS = Date.parse('2026-01-01T00:00:00Z');

const CONTRACT = `
action: list_things
summary: List things of $(args.shop)
owner: shop-team
effect: Read
callers: [{serviceAccount: bot}]
credentials: [api-reader]
arguments:
  type: object
  additionalProperties: false
  required: [shop, day, code]
  properties:
    shop: {type: string, enum: [north, south]}
    day: {type: string, format: date}
    code: {type: string, pattern: "^[a-z]{1,8}$", maxLength: 8}
    since: {type: string, format: date-time}
    count: {type: integer, minimum: 0, maximum: 9}
    words: {type: string, maxLength: 50}
    tags: {type: array, maxItems: 3, items: {type: string, enum: [red, green]}}
    note: {type: string, maxLength: 200, x-postern-text: {render: plain, lines: 3}}
    filter: {type: object, additionalProperties: false, properties: {color: {type: string, enum: [red, green]}}}
resolve:
  shop: {north: {id: n1, host: a.example.com}, south: {id: s1, host: b.example.com}}
constants: {kind: thing, big: {a: 1}}
http:
  credential: api-reader
  method: GET
  url: https://api.example.com/v1/shops/$(resolve.shop.id)/things
  query: {limit: "$(limits.pageSize)", after: "$(next.after)", since: "$(args.since)"}
  headers: {accept: application/json}
result:
  items: [/items]
  as: things
  id: [/id]
  order: {by: /id, direction: Ascending, compare: Number}
  outcomes: [{name: gone, when: "status == 410", is: CursorExpired}]
  fields: [{name: id}, {name: title, presence: Optional}]
completeness:
  paging: {next: [{name: after, from: [{body: /next}]}], end: {nextIs: [Absent]}}
  consistency: {mode: Keyset}
  required: [{name: total, anyOf: [{body: /total}]}]
  signals: [{name: partial, when: "has(body.partial)", reason: SOURCE_UNAVAILABLE}]
  notices: [{name: lag, warning: lag, fields: [title]}]
  totals: [{name: total, from: {body: /total}}]
  freshness: [{name: age, from: {header: age}, unit: Seconds, maxAge: 60s, warning: lag}]
  reach: {total: 1000, narrowBy: [since]}
  rateLimit: {waits: [{fixed: 1s}]}
  limits: {pageSize: 100}
  scope: {resource: things of $(args.shop), visibility: all shops, absence: Provable}
warnings: [{name: lag, code: STALE_INDEX, owner: shop-team, expires: "2026-06-30", message: The index lags}]
`;

const BINDING = `
owner: shop-team
secret: {name: postern-api}
contracts: [list-things]
destinations: [{origin: "https://api.example.com", methods: [GET, POST], pathPrefixes: [/v1/shops/]}]
use: {bearer: {key: token}}
`;

/** Dotted path (numbers are list positions, `\\.` is a dot inside of a name) to the new value; undefined deletes. */
export type Changes = Readonly<Record<string, JsonValue | undefined>>;

export function sampleContract(changes: Changes = {}): ResourceObject {
  return objectOf('ActionContract', 'list-things', CONTRACT, changes);
}

export function sampleBinding(changes: Changes = {}, name = 'api-reader'): ResourceObject {
  return objectOf('CredentialBinding', name, BINDING, changes);
}

export function objectOf(kind: Kind, name: string, specYaml: string, changes: Changes = {}): ResourceObject {
  const indented = specYaml.replaceAll(/^(?=.)/gm, '  ');
  const { objects, problems } = readYaml(
    `apiVersion: postern.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec:\n${indented}`,
    `${name}.yaml`,
  );
  assert.deepEqual(
    problems.filter(({ severity }) => severity === 'error'),
    [],
  );
  const [object] = objects;
  assert.ok(object !== undefined);
  return { ...object, spec: changed(object.spec, changes) };
}

type Draft = { [key: string]: JsonValue };

export function changed(spec: ResourceObject['spec'], changes: Changes): ResourceObject['spec'] {
  const copy = structuredClone(spec) as Draft;
  for (const [path, value] of Object.entries(changes)) {
    const steps = path.split(/(?<!\\)\./).map((step) => step.replaceAll('\\.', '.'));
    const last = steps.pop() ?? '';
    let here = copy;
    for (const step of steps) {
      here[step] ??= {};
      here = here[step] as Draft;
    }
    if (value === undefined) delete here[last];
    else here[last] = structuredClone(value);
  }
  return copy;
}

export interface Around {
  readonly bindings?: readonly ResourceObject[];
  readonly presets?: readonly ResourceObject[];
  readonly contracts?: readonly ResourceObject[];
}

export function compileObject(contract: ResourceObject, around: Around = {}): CompileResult {
  const { bindings = [sampleBinding()], presets = [], contracts = [] } = around;
  return compileContract({ contract, bindings, presets, contracts, nowMs: NOW_MS });
}

export function compileSample(changes: Changes = {}, around: Around = {}): CompileResult {
  return compileObject(sampleContract(changes), around);
}

/** The compiled sample, which must have no error. */
export function compiledSample(changes: Changes = {}, around: Around = {}): CompiledContract {
  const result = compileSample(changes, around);
  assert.deepEqual(
    result.problems.filter(({ severity }) => severity === 'error'),
    [],
  );
  assert.ok(result.contract !== undefined);
  return result.contract;
}

export function shown(problems: readonly Problem[]): string[] {
  return problems.map(({ code, path }) => `${code} ${path}`);
}

/** Every object of the YAML files of a folder of the repository, `examples/contracts` for one. */
export function objectsIn(folder: string): readonly ResourceObject[] {
  const root = new URL('../../../', import.meta.url);
  return readdirSync(new URL(folder, root))
    .filter((name) => name.endsWith('.yaml'))
    .flatMap((name) => {
      const { objects, problems } = readYaml(readFileSync(new URL(`${folder}/${name}`, root), 'utf8'), `${folder}/${name}`);
      assert.deepEqual(problems, []);
      return objects;
    });
}

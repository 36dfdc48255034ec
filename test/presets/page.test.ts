/** docs/presets.md against the presets: no section missing, every example compiles, blocks and warnings are the real ones. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isList, isObject, type JsonObject } from '#core/completeness/path.ts';
import { compileContract } from '#core/contract/compile.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import { shippedPresets } from '#core/contract/gen/presets.ts';
import { readYaml } from '#core/contract/read-yaml.ts';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import { withShippedPresets } from '#core/contract/shipped-presets.ts';

const page = readFileSync(new URL('../../docs/presets.md', import.meta.url), 'utf8');
const sections = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf('\n')), text] as const),
);

test('presets page: one section and one row for each preset', () => {
  const names = Object.keys(shippedPresets).sort();
  assert.deepEqual([...sections.keys()].sort(), names);
  assert.deepEqual([...page.matchAll(/^\| \[([a-z0-9-]+)\]\(#\1\) \|/gm)].map(([, name]) => name).sort(), names);
});

for (const [name, section] of sections) {
  const spec = shippedPresets[name]?.spec ?? {};

  test(`presets page: ${name} is told to declare what it raises`, () => {
    const declare = /^- Declare: .*$/m.exec(section)?.[0] ?? '';
    for (const warning of warningsOf(spec)) assert.ok(declare.includes(`\`${warning}\``), `${warning} is not in: ${declare}`);
    if (warningsOf(spec).length === 0) assert.equal(declare, '- Declare: nothing.');
  });

  test(`presets page: ${name} fills the blocks it is said to fill`, () => {
    const fills = /^- Fills: ([\s\S]*?)\n- /m.exec(section)?.[1] ?? '';
    const completeness = isObject(spec.completeness) ? Object.keys(spec.completeness) : [];
    for (const block of completeness) assert.match(fills, new RegExp(`\`(completeness\\.)?${block}\``), `${block} is not in: ${fills}`);
    const said = [...fills.matchAll(/`(?:completeness\.)?([a-zA-Z]+)`/g)].map(([, block]) => block);
    assert.deepEqual(
      said.filter((block) => !completeness.includes(block ?? '') && !['result', 'fields', 'as'].includes(block ?? '')),
      [],
    );
  });

  test(`presets page: the example of ${name} compiles`, () => {
    const { contract, binding } = exampleOf(name, section);
    const { problems } = compileContract({
      contract,
      bindings: [binding],
      presets: withShippedPresets([]),
      contracts: [contract],
      nowMs: Date.UTC(2026, 0, 1),
    });
    assert.deepEqual(
      problems.filter(({ severity }) => severity === 'error'),
      [],
    );
  });
}

/** Warnings of notices and tables. */
function warningsOf(value: JsonValue): readonly string[] {
  if (isList(value)) return [...new Set(value.flatMap(warningsOf))];
  if (!isObject(value)) return [];
  const own = typeof value.warning === 'string' ? [value.warning] : [];
  return [...new Set([...own, ...Object.values(value).flatMap(warningsOf)])];
}

/** The example with the parts it leaves out: every argument one of two words, every constant a text. */
function exampleOf(name: string, section: string): { readonly contract: ResourceObject; readonly binding: ResourceObject } {
  const yaml = /^```yaml\n([\s\S]*?)^```$/m.exec(section)?.[1] ?? '';
  const { objects, problems } = readYaml(
    `apiVersion: postern.dev/v1alpha1\nkind: ActionContract\nmetadata: {name: example}\nspec:\n${yaml}`,
    'docs/presets.md',
  );
  assert.deepEqual(problems, []);
  const [written] = objects;
  assert.ok(written !== undefined);
  const named = (root: string) => [
    ...new Set([...yaml.matchAll(new RegExp(`\\$\\(${root}\\.([a-z]+)`, 'g'))].map(([, word]) => word ?? '')),
  ];
  const args = named('args');
  const http = written.spec.http as JsonObject;
  const { origin } = new URL(String(http.url).replaceAll(/\$\([^)]*\)/g, 'x'));
  const credential = String(http.credential);
  const contract: ResourceObject = {
    ...written,
    spec: {
      ...written.spec,
      action: 'example',
      summary: 'Read an example',
      owner: 'docs',
      effect: 'Read',
      ...(http.method === 'GET' ? {} : { readOnlyBecause: 'the protocol knows only POST' }),
      callers: [{ serviceAccount: 'docs' }],
      credentials: [credential],
      arguments: {
        type: 'object',
        additionalProperties: false,
        required: args,
        properties: Object.fromEntries(args.map((word) => [word, { type: 'string', enum: ['one', 'two'] }])),
      },
      constants: Object.fromEntries(named('constants').map((word) => [word, 'a fixed text'])),
      warnings: warningsOf(shippedPresets[name]?.spec ?? {}).map((warning) => ({
        name: warning,
        code: 'UPSTREAM_NOTICE',
        owner: 'docs',
        expires: '2026-12-31',
        message: 'An example',
      })),
    },
  };
  const binding: ResourceObject = {
    kind: 'CredentialBinding',
    name: credential,
    namespace: written.namespace,
    spec: {
      owner: 'docs',
      secret: { name: 'postern-docs' },
      contracts: ['example'],
      destinations: [{ origin, methods: ['GET', 'POST', 'DELETE'] }],
      use: { bearer: { key: 'token' } },
    },
  };
  return { contract, binding };
}

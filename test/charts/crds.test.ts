/**
 * The CRDs as teachers: `kubectl explain` must be enough to write a contract. Every field of a spec says what it is, and every field
 * that a person fills in shows an example or names its choices and default.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message?: string }[];
}
interface Crd {
  readonly spec: {
    readonly names: { readonly kind: string; readonly shortNames: readonly string[]; readonly categories: readonly string[] };
    readonly versions: readonly [
      {
        readonly schema: { readonly openAPIV3Schema: Schema };
        readonly additionalPrinterColumns: readonly { readonly name: string; readonly jsonPath: string }[];
        readonly subresources: { readonly status?: object };
      },
    ];
  };
}

const folder = join(import.meta.dirname, '../../crds');
const crds = readdirSync(folder).map((name) => parse(readFileSync(join(folder, name), 'utf8'), { maxAliasCount: -1 }) as Crd);

/** Every named field below a schema, with its path as `kubectl explain` takes it. */
function* fieldsOf(schema: Schema, path: string): Generator<readonly [string, Schema]> {
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    yield [`${path}.${name}`, child];
    yield* fieldsOf(child, `${path}.${name}`);
  }
  if (schema.items !== undefined) yield* fieldsOf(schema.items, path);
  if (schema.additionalProperties !== undefined) yield* fieldsOf(schema.additionalProperties, path);
}

/** A switch of words shows its choices; anything else shows one value. */
function teaches({ description = '', enum: choices }: Schema): boolean {
  return choices === undefined ? /\bExample: /.test(description) : description !== '';
}

for (const { spec } of crds) {
  const { kind } = spec.names;
  const [version] = spec.versions;
  const root = version.schema.openAPIV3Schema;

  test(`crds: every field of ${kind}'s spec has a description, and an example where it has no list of choices`, () => {
    const specSchema = root.properties?.spec ?? {};
    const silent = [...fieldsOf(specSchema, 'spec')].filter(([, field]) => (field.description ?? '') === '').map(([path]) => path);
    assert.deepEqual(silent, [], 'fields without a description');
    const untaught = [...fieldsOf(specSchema, 'spec')].filter(([, field]) => !teaches(field)).map(([path]) => path);
    assert.deepEqual(untaught, [], 'fields without "Example: "');
  });

  test(`crds: every field of ${kind}'s status has a description`, () => {
    const plain = /\.conditions\.(type|status|observedGeneration|lastTransitionTime|reason|message)$/;
    const silent = [...fieldsOf(root.properties?.status ?? {}, 'status')]
      .filter(([path, field]) => (field.description ?? '') === '' && !plain.test(path))
      .map(([path]) => path);
    assert.deepEqual(silent, []);
  });

  test(`crds: ${kind} has a short name, the category postern, a status of its own and columns whose fields exist`, () => {
    assert.ok(spec.names.shortNames.length > 0);
    assert.deepEqual(spec.names.categories, ['postern']);
    assert.ok(version.subresources.status);
    const known = new Set([...fieldsOf(root, '')].map(([path]) => path));
    for (const { name, jsonPath } of version.additionalPrinterColumns) {
      const path = jsonPath.replace(/\[[^\]]*\]/g, '');
      assert.ok(known.has(path) || path.startsWith('.metadata.'), `${name}: ${jsonPath}`);
    }
  });

  test(`crds: a rule of ${kind} that compares with the past stands at the root and asks with has(), because on a field it would not run when the field goes`, () => {
    const below = function* (schema: Schema, path: string): Generator<string> {
      for (const [at, field] of [[path, schema] as const, ...fieldsOf(schema, path)]) {
        for (const part of [field, field.items ?? {}, field.additionalProperties ?? {}]) {
          for (const { rule } of part['x-kubernetes-validations'] ?? []) if (rule.includes('oldSelf')) yield at;
        }
      }
    };
    for (const [name, child] of Object.entries(root.properties ?? {})) assert.deepEqual([...below(child, name)], []);
    for (const { rule, message } of root['x-kubernetes-validations'] ?? []) {
      assert.ok(message, rule);
      // An optional field compared with the past is asked for on both sides.
      for (const optional of ['revoked', 'admitted', 'decision', 'state']) {
        if (new RegExp(`oldSelf\\.[a-z.]*${optional}\\b`).test(rule))
          assert.match(rule, new RegExp(`has\\(self\\.[a-z.]*${optional}\\)`), rule);
      }
    }
  });
}

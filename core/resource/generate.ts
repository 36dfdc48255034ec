/**
 * Writes core/resource/gen from crds/*.yaml: types for our own code, strict schemas for the compiler.
 *
 *     node core/resource/generate.ts           writes the files
 *     node core/resource/generate.ts --check   writes nothing; exits 1 when a file differs
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { compile } from 'json-schema-to-typescript';
import { parseDocument, visit } from 'yaml';
import { presetSchema } from './preset-schema.ts';
import { type AnchoredSchema, type Schema, strictSchema } from './strict-schema.ts';

const CRDS = new URL('../../crds/', import.meta.url);
const GENERATED = new URL('./gen/', import.meta.url);
const BANNER = '// Generated from crds/ by `npm run generate`. Do not edit.\n';

async function main(check: boolean): Promise<void> {
  const files = await generate();
  const stale = check ? await differing(files) : [];
  if (!check) await writeAll(files);
  for (const name of stale) console.error(`core/resource/gen/${name} is not what crds/ gives: run \`npm run generate\``);
  if (stale.length > 0) process.exitCode = 1;
}

/** Every generated file by name. */
async function generate(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const entry of (await readdir(CRDS)).filter((name) => name.endsWith('.yaml')).sort()) {
    const { kind, crd } = readCrd(await readFile(new URL(entry, CRDS), 'utf8'));
    const strict = strictSchema(crd);
    const spec = { ...((strict.properties as Record<string, Schema>).spec as Schema), $defs: strict.$defs };
    files.set(`${fileNameOf(kind)}.ts`, await typesOf(kind, strict));
    // Sessions and approvals are made by the operator, never read from files.
    if (kind === 'ActionContract' || kind === 'CredentialBinding') files.set(`${fileNameOf(kind)}-schema.ts`, schemaFile(kind, spec));
    if (kind === 'ActionContract') {
      const preset = presetSchema(spec);
      files.set('contract-preset.ts', await typesOf('ContractPreset', objectOf(preset)));
      files.set('contract-preset-schema.ts', schemaFile('ContractPreset', preset));
    }
  }
  return files;
}

/** Anchors are found in the order they stand in, which is the order the values are made in. */
function readCrd(text: string): { kind: string; crd: AnchoredSchema } {
  const document = parseDocument(text, { strict: true });
  if (document.errors.length > 0) throw document.errors[0];
  const names: string[] = [];
  visit(document, {
    Node: (_key, node) => {
      if ('anchor' in node && node.anchor !== undefined) names.push(node.anchor);
    },
  });
  const values: object[] = [];
  const onAnchor = (value: unknown) => {
    if (typeof value === 'object' && value !== null) values.push(value);
  };
  const crd = document.toJS({ maxAliasCount: -1, onAnchor });
  if (names.length !== values.length) throw new Error('anchors and their values do not match');
  const anchors = new Map(values.map((value, index) => [value, names[index] ?? '']));
  return { kind: crd.spec.names.kind, crd: { root: crd.spec.versions[0].schema.openAPIV3Schema, anchors } };
}

function objectOf(spec: Schema): Schema {
  const { $defs, ...rest } = spec;
  const open = { type: 'object' };
  return {
    type: 'object',
    required: ['spec'],
    additionalProperties: false,
    properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: open, spec: rest },
    $defs,
  };
}

const METADATA: Schema = {
  type: 'object',
  title: 'ObjectMeta',
  description: 'The part of Kubernetes metadata that Postern reads.',
  required: ['name'],
  additionalProperties: true,
  properties: {
    name: { type: 'string' },
    namespace: { type: 'string' },
    uid: { type: 'string' },
    resourceVersion: { type: 'string' },
    generation: { type: 'integer' },
    creationTimestamp: { type: 'string' },
    deletionTimestamp: { type: 'string' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
  },
};

async function typesOf(kind: string, strict: Schema): Promise<string> {
  const properties = strict.properties as Record<string, Schema>;
  const whole = {
    ...structuredClone(strict),
    required: ['apiVersion', 'kind', 'metadata', 'spec'],
    properties: {
      ...structuredClone(properties),
      apiVersion: { const: 'postern.dev/v1alpha1' },
      kind: { const: kind },
      metadata: METADATA,
    },
  };
  return compile(withoutChoices(whole) as object, kind, {
    bannerComment: BANNER,
    additionalProperties: false,
    unreachableDefinitions: false,
    ignoreMinAndMaxItems: true,
    style: { singleQuote: true, printWidth: 140 },
  });
}

/** `oneOf` over `required` would become unions of open objects; readers check the choice themselves. */
function withoutChoices(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutChoices);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node)
      .filter(([keyword, value]) => !(keyword === 'allOf' && Array.isArray(value)))
      .map(([keyword, value]) => [keyword, withoutChoices(value)]),
  );
}

function schemaFile(kind: string, schema: Schema): string {
  const name = `${kind[0]?.toLowerCase()}${kind.slice(1)}SpecSchema`;
  const data = JSON.stringify(withoutDescriptions(schema), null, 1);
  return `${BANNER}/** Strict JSON Schema of \`spec\` of ${kind}, without descriptions. */\nexport const ${name}: Record<string, unknown> = ${data};\n`;
}

/** Descriptions teach readers of the CRD; in the program they are the larger half of the schema. A property of that name stays. */
function withoutDescriptions(node: unknown, isMap = false): unknown {
  if (Array.isArray(node)) return node.map((child) => withoutDescriptions(child));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node)
      .filter(([keyword]) => isMap || keyword !== 'description')
      .map(([keyword, value]) => [keyword, withoutDescriptions(value, !isMap && (keyword === 'properties' || keyword === '$defs'))]),
  );
}

function fileNameOf(kind: string): string {
  return kind.replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
}

async function differing(files: ReadonlyMap<string, string>): Promise<string[]> {
  const found = new Set(await readdir(GENERATED).catch(() => []));
  const stale = [...found].filter((name) => !files.has(name));
  for (const [name, text] of files) {
    if (!found.has(name) || (await readFile(new URL(name, GENERATED), 'utf8')) !== text) stale.push(name);
  }
  return stale;
}

async function writeAll(files: ReadonlyMap<string, string>): Promise<void> {
  await rm(GENERATED, { recursive: true, force: true });
  await mkdir(GENERATED, { recursive: true });
  for (const [name, text] of files) await writeFile(new URL(name, GENERATED), text);
}

await main(process.argv.includes('--check'));

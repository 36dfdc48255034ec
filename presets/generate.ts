/**
 * Writes core/contract/gen/presets.ts from presets/*.yaml, so that the sidecar has its presets without a file and
 * without a YAML parser, and keeps presets/digests.json, the lock of what was released.
 *
 *     node presets/generate.ts           writes the files
 *     node presets/generate.ts --check   writes nothing; exits 1 when a file differs
 *
 * A preset is part of what was approved: its digest is in the revision of every contract that uses it. So a name whose
 * digest is locked never changes; a change is a new name. The digest is the one the compiler puts into the revision and
 * `contract explain` shows: `digestOf('preset', {name, spec})`.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import { canonicalJson, type Digest, digestOf } from '#core/encoding/canonical.ts';

const SOURCES = new URL('./', import.meta.url);
const GENERATED = new URL('../core/contract/gen/presets.ts', import.meta.url);
const LOCK = new URL('./digests.json', import.meta.url);

interface Preset {
  readonly name: string;
  readonly digest: Digest;
  /** RFC 8785 JSON of `spec`. */
  readonly text: string;
}

async function main(check: boolean): Promise<void> {
  const presets = await readPresets();
  const locked = JSON.parse(await readFile(LOCK, 'utf8').catch(() => '{}')) as Record<string, string>;
  const problems = lockProblems(presets, locked);
  const files = new Map([
    [GENERATED, tableOf(presets)],
    [LOCK, `${JSON.stringify(Object.fromEntries(presets.map(({ name, digest }) => [name, digest])), null, 2)}\n`],
  ]);
  for (const [url, text] of problems.length > 0 ? [] : files) {
    if (check && (await readFile(url, 'utf8').catch(() => '')) !== text)
      problems.push(`${url.pathname.split('/').slice(-3).join('/')} is not what presets/ gives: run \`npm run generate\``);
    if (!check) {
      await mkdir(new URL('./', url), { recursive: true });
      await writeFile(url, text);
    }
  }
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

async function readPresets(): Promise<readonly Preset[]> {
  const files = (await readdir(SOURCES)).filter((name) => name.endsWith('.yaml')).sort();
  return Promise.all(files.map(async (file) => readPreset(file, await readFile(new URL(file, SOURCES), 'utf8'))));
}

function readPreset(file: string, text: string): Preset {
  const document = parseDocument(text, { version: '1.2', schema: 'core', strict: true, uniqueKeys: true });
  const fault = document.errors[0] ?? document.warnings[0];
  if (fault !== undefined) throw new Error(`presets/${file}: ${fault.message}`);
  const { kind, metadata, spec } = document.toJS({ maxAliasCount: 0 });
  if (kind !== 'ContractPreset' || `${metadata?.name}.yaml` !== file)
    throw new Error(`presets/${file} is not the ContractPreset of that name`);
  const { name } = metadata;
  return { name, digest: digestOf('preset', { name, spec }), text: canonicalJson(spec) };
}

/** A locked preset that changed or went away; new names are fine. */
function lockProblems(presets: readonly Preset[], locked: Readonly<Record<string, string>>): string[] {
  const found = new Map(presets.map(({ name, digest }) => [name, digest]));
  return Object.entries(locked).flatMap(([name, digest]) => {
    const now = found.get(name);
    if (now === digest) return [];
    return [
      now === undefined ? `preset ${name} is released and gone` : `preset ${name} is released and has changed: give the new one a new name`,
    ];
  });
}

function tableOf(presets: readonly Preset[]): string {
  const entries = presets.map(
    ({ name, digest, text }) => `  ${JSON.stringify(name)}: shipped(${JSON.stringify(digest)}, ${literalOf(text)}),\n`,
  );
  return `// Generated from presets/ by \`npm run generate\`. Do not edit.
import type { JsonObject } from '#core/completeness/path.ts';
import type { Digest } from '#core/encoding/canonical.ts';

/** \`spec\` is parsed when it is first asked for; \`digest\` is digestOf('preset', {name, spec}). */
export interface ShippedPreset {
  readonly digest: Digest;
  readonly spec: JsonObject;
}

/** Every preset that comes with this release, by name; null prototype. */
export const shippedPresets: Readonly<Record<string, ShippedPreset>> = Object.freeze(
  Object.assign(Object.create(null) as Record<string, ShippedPreset>, {
${entries.join('').replaceAll(/^/gm, '  ').trimEnd()}
  }),
);

function shipped(digest: Digest, text: string): ShippedPreset {
  let spec: JsonObject | undefined;
  return {
    digest,
    get spec() {
      spec ??= JSON.parse(text) as JsonObject;
      return spec;
    },
  };
}
`;
}

function literalOf(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

await main(process.argv.includes('--check'));

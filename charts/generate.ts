/**
 * The chart's policies, from operator/guard: `node charts/generate.ts` writes charts/postern/templates/policies, `--check` fails when a
 * file differs. The release's namespace is the only value of the chart in them.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { guardObjects, policies } from '#operator/guard/policies.ts';
import type { Guard } from '#operator/guard/policy.ts';

const folder = join(import.meta.dirname, 'postern/templates/policies');
/** Stands for the namespace in the generated text; as long as a namespace may be, so that it cannot be part of a word. */
const NAMESPACE = 'namespace-of-the-release-'.padEnd(63, 'x');
/** The chart's own name for it, see operator.yaml. */
const SERVICE_ACCOUNT = 'postern-operator';

/** Every file by name. */
export function policyFiles(): ReadonlyMap<string, string> {
  return new Map(policies({ namespace: NAMESPACE, serviceAccount: SERVICE_ACCOUNT }).map((guard) => [`${guard.name}.yaml`, page(guard)]));
}

function page(guard: Guard): string {
  const head = `{{- /* ${guard.about} Made from operator/guard by charts/generate.ts: change it there. */ -}}\n`;
  const documents = guardObjects(guard).map(({ apiVersion, kind, metadata, spec }) => {
    const labels = '  labels: {{- include "postern.labels" . | nindent 4 }}\n';
    const body = stringify({ spec }, { lineWidth: 0, aliasDuplicateObjects: false });
    if (body.includes('{{')) throw new Error(`${guard.name} would be read as a template`);
    return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: ${metadata.name}\n${labels}${body}`;
  });
  // A namespace of digits would be a number to YAML where it stands alone.
  const alone = new RegExp(`- ${NAMESPACE}$`, 'gm');
  return (
    head + documents.join('---\n').replace(alone, '- {{ .Release.Namespace | quote }}').replaceAll(NAMESPACE, '{{ .Release.Namespace }}')
  );
}

function main(): void {
  const check = process.argv.includes('--check');
  const files = policyFiles();
  mkdirSync(folder, { recursive: true });
  const present = readdirSync(folder);
  const wrong = [...new Set([...present, ...files.keys()])].filter((name) => {
    return !present.includes(name) || readFileSync(join(folder, name), 'utf8') !== files.get(name);
  });
  if (!check) {
    for (const name of present) if (!files.has(name)) rmSync(join(folder, name));
    for (const [name, text] of files) writeFileSync(join(folder, name), text);
  } else if (wrong.length > 0) {
    console.error(`charts/postern/templates/policies: ${wrong.join(', ')} differ; run npm run generate`);
    process.exitCode = 1;
  }
}

if (import.meta.main) main();

/**
 * The contract files a command was given: every `.yaml` and `.yml` below the named directories, and the files named
 * one by one. A name that leads nowhere is a mistake, never an empty result.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem } from '#core/contract/problem.ts';
import { readYaml } from '#core/contract/read-yaml.ts';
import type { Kind, ResourceObject } from '#core/contract/resource-object.ts';
import { UsageError } from './report-failure.ts';

export interface ContractFiles {
  /** In the order of the command line, below a directory by name. */
  readonly files: readonly string[];
  readonly objects: readonly ResourceObject[];
  /** What kept documents from being objects. */
  readonly problems: readonly Problem[];
}

/** Throws UsageError for a path that is not there and for a directory without contract files. */
export function readContractFiles(paths: readonly string[]): ContractFiles {
  const files = [...new Set(paths.flatMap(filesAt))];
  const objects: ResourceObject[] = [];
  const problems: Problem[] = [];
  for (const file of files) {
    const read = readYaml(textOf(file), file);
    objects.push(...read.objects);
    problems.push(...read.problems);
  }
  return { files, objects, problems: [...problems, ...twice(objects)] };
}

export function ofKind({ objects }: Pick<ContractFiles, 'objects'>, kind: Kind): readonly ResourceObject[] {
  return objects.filter((object) => object.kind === kind);
}

function filesAt(path: string): readonly string[] {
  const entry = statSync(path, { throwIfNoEntry: false });
  if (entry === undefined)
    throw new UsageError(`${path} does not exist.`, 'Name a contract file, or a directory with contract files below it.');
  if (!entry.isDirectory()) return [path];
  const found = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((file) => !file.isDirectory() && /\.ya?ml$/.test(file.name) && !hidden(file.parentPath, path))
    .map((file) => join(file.parentPath, file.name))
    // Mounted ConfigMaps are links to files; links to directories are not followed, for they may lead in a circle.
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true)
    .sort();
  if (found.length === 0) throw new UsageError(`${path} holds no .yaml or .yml file.`, 'Name the directory your contracts are in.');
  return found;
}

/** `node_modules`, `.git` and their like are nobody's contracts. */
function hidden(parent: string, root: string): boolean {
  return parent
    .slice(root.length)
    .split(/[/\\]/)
    .some((part) => part.startsWith('.') || part === 'node_modules');
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (fault) {
    throw new UsageError(
      `${file} cannot be read${fault instanceof Error && 'code' in fault ? ` (${String(fault.code)})` : ''}.`,
      'Check that it is a file you may read.',
    );
  }
}

/**
 * Two objects of one kind, namespace and name: which one counts would depend on the order of the files. Tests are told
 * apart by their contract too: `rate-limited` is a good name for a test of each.
 */
function twice(objects: readonly ResourceObject[]): readonly Problem[] {
  const seen = new Map<string, ResourceObject>();
  const problems: Problem[] = [];
  for (const object of objects) {
    const of = object.kind === 'ContractTest' ? JSON.stringify(object.spec.contract) : '';
    const key = `${object.kind} ${object.namespace} ${object.name} ${of}`;
    const first = seen.get(key);
    if (first === undefined) {
      seen.set(key, object);
      continue;
    }
    const { source } = object;
    const elsewhere = first.source === undefined ? '' : ` in ${first.source.file}:${first.source.lineAt([])}`;
    problems.push({
      object: {
        kind: object.kind,
        name: object.name,
        ...(source === undefined ? {} : { file: source.file, line: source.lineAt(['metadata', 'name']) }),
      },
      path: 'metadata.name',
      code: 'object-twice',
      severity: 'error',
      message: `Another ${object.kind} of this name is already there${elsewhere}.`,
      cure: 'Rename one of them, or name only one of the files.',
    });
  }
  return problems;
}

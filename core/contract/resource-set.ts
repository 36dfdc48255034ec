/** Problems of several objects together that none of them has alone. */
import type { Problem } from './problem.ts';
import { Report } from './report.ts';
import type { ResourceObject } from './resource-object.ts';

/** The second and every later object of one kind, namespace and name. */
export function duplicateProblems(objects: readonly ResourceObject[]): readonly Problem[] {
  const seen = new Map<string, ResourceObject>();
  const problems: Problem[] = [];
  for (const object of objects) {
    const key = `${object.kind}/${object.namespace}/${object.name}`;
    const first = seen.get(key);
    if (first === undefined) {
      seen.set(key, object);
      continue;
    }
    const report = new Report((path) => ({
      kind: object.kind,
      name: object.name,
      path,
      ...(object.source === undefined ? {} : { source: object.source }),
    }));
    const where = first.source === undefined ? '' : ` in ${first.source.file}`;
    report.add(['metadata', 'name'], 'object-duplicate', `There is a ${object.kind} of this name already${where}.`);
    problems.push(...report.problems);
  }
  return problems;
}

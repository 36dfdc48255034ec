/** Problems of several objects together that none of them has alone. */
import type { Problem } from './problem.ts';
import { Report } from './report.ts';
import type { Kind, ResourceObject } from './resource-object.ts';

/**
 * The second and every later object of one kind, namespace and name: which one counts would depend on their order. With `shared`, of
 * one kind and name whatever the namespace: agents name actions, and contracts name presets, without one.
 */
export function duplicateProblems(objects: readonly ResourceObject[], shared: readonly Kind[] = []): readonly Problem[] {
  const seen = new Map<string, ResourceObject>();
  const problems: Problem[] = [];
  for (const object of objects) {
    const key = `${object.kind}/${shared.includes(object.kind) ? '' : object.namespace}/${object.name}`;
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
    const other = first.namespace === object.namespace ? '' : `, of the namespace ${first.namespace}`;
    report.add(['metadata', 'name'], 'object-duplicate', `There is a ${object.kind} of this name already${where}${other}.`);
    problems.push(...report.problems);
  }
  return problems;
}

/** resolve: one table per enum argument, one entry per label, the same members in each. */
import type { Draft } from './draft.ts';
import { nearestName } from './nearest.ts';
import type { ArgumentSchema, ArgumentsSchema } from './schema.ts';
import type { SpecNode } from './spec-node.ts';

export function checkResolve(draft: Draft, args: ArgumentsSchema): void {
  for (const [name, table] of draft.spec.at('resolve').entries()) {
    const labels = labelsOf(Object.hasOwn(args.properties, name) ? args.properties[name] : undefined);
    if (labels === undefined) {
      table.problem('resolve-argument', `${JSON.stringify(name)} is no argument with an enum of texts.`, {
        nearest: nearestName(
          name,
          Object.keys(args.properties).filter((other) => labelsOf(args.properties[other]) !== undefined),
        ),
      });
      continue;
    }
    checkLabels(table, labels);
    checkMembers(table);
  }
}

function labelsOf(schema: ArgumentSchema | undefined): readonly string[] | undefined {
  if (schema?.type === 'array') return labelsOf(schema.items);
  return schema?.type === 'string' ? schema.enum : undefined;
}

function checkLabels(table: SpecNode, labels: readonly string[]): void {
  const written = table.entries();
  for (const [label, members] of written) {
    if (!labels.includes(label))
      members.problem('resolve-labels', `${JSON.stringify(label)} is no value of the enum.`, { nearest: nearestName(label, labels) });
  }
  const missing = labels.filter((label) => !written.some(([name]) => name === label));
  if (missing.length > 0) table.problem('resolve-labels', `The labels ${missing.join(', ')} have no entry.`);
}

function checkMembers(table: SpecNode): void {
  const all = new Set(table.entries().flatMap(([, members]) => Object.keys(members.object())));
  for (const [label, members] of table.entries()) {
    const missing = [...all].filter((name) => !members.at(name).present);
    if (missing.length > 0) members.problem('resolve-members', `The label ${label} lacks ${missing.join(', ')}, which others have.`);
  }
}

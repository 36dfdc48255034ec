/** Paths such as `/project_ids` that name an argument of the contract itself. */
import type { ArgumentPath } from './effect-rules.ts';
import { nearestName } from './nearest.ts';
import type { ArgumentSchema, ArgumentsSchema } from './schema.ts';
import type { SpecNode } from './spec-node.ts';

export interface NamedArgument {
  readonly path: ArgumentPath;
  /** Undefined when there is no such argument; then it was reported. */
  readonly schema?: ArgumentSchema;
}

/** Names of arguments have neither `/` nor `~`, so nothing is escaped. */
export function argumentAt(node: SpecNode, args: ArgumentsSchema): NamedArgument {
  const text = node.text();
  const path = text.split('/').slice(1);
  const schema = text.startsWith('/') ? schemaAt(path, args) : undefined;
  if (schema !== undefined && schema !== args) return { path, schema };
  if (text !== '' || node.value === '') {
    const near = nearestName(text.slice(1), Object.keys(args.properties));
    node.problem('argument-unknown', `${JSON.stringify(text)} is no argument.`, { nearest: near === undefined ? undefined : `/${near}` });
  }
  return { path: [''] };
}

/** Own members only: an argument named `constructor` never reads a prototype. */
export function schemaAt(path: readonly string[], args: ArgumentsSchema): ArgumentSchema | undefined {
  let here: ArgumentSchema | undefined = args;
  for (const name of path) {
    here = here?.type === 'object' && Object.hasOwn(here.properties, name) ? here.properties[name] : undefined;
  }
  return here;
}

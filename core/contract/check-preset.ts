/** A preset by itself: the fields it may have, a name that carries its version, a base without a base. */
import { isObject } from '#core/completeness/path.ts';
import { checkStructure } from './check-structure.ts';
import type { Problem } from './problem.ts';
import { Report } from './report.ts';
import type { ResourceObject } from './resource-object.ts';
import { SpecNode } from './spec-node.ts';

/** What its rules say is judged with each contract that uses it. */
export function checkPreset(preset: ResourceObject, presets: readonly ResourceObject[]): readonly Problem[] {
  const report = new Report((path) => ({
    kind: preset.kind,
    name: preset.name,
    path,
    ...(preset.source === undefined ? {} : { source: preset.source }),
  }));
  const spec = new SpecNode(preset.spec, ['spec'], report);
  if (!/-v[1-9][0-9]{0,3}$/.test(preset.name)) {
    report.add(['metadata', 'name'], 'bad-name', 'A preset is immutable, so its version is in its name.', { cure: 'End the name in -v1.' });
  }
  for (const [name, node] of spec.entries()) {
    if (!['base', 'http', 'result', 'completeness'].includes(name)) node.problem('preset-field', `A preset has no ${name}.`);
  }
  for (const [name, node] of spec.at('http').entries()) {
    if (!['headers', 'query', 'body'].includes(name))
      node.problem('preset-field', `A preset has no http.${name}: where a call goes is the contract's to say.`);
  }
  checkBase(spec.maybe('base'), presets);
  return [...report.problems, ...structureOf(preset, report)];
}

/** What does not depend on other presets, found once for all contracts on this one. */
const structures = new WeakMap<ResourceObject, readonly Problem[]>();

function structureOf(preset: ResourceObject, said: Report): readonly Problem[] {
  const known = structures.get(preset);
  if (known !== undefined) return known;
  const before = new Set(said.problems);
  checkStructure('ContractPreset', preset.spec, said);
  const found = said.problems.filter((problem) => !before.has(problem));
  structures.set(preset, found);
  return found;
}

function checkBase(node: SpecNode | undefined, presets: readonly ResourceObject[]): void {
  if (node === undefined) return;
  const base = presets.find((each) => each.name === node.text());
  if (base === undefined) node.problem('preset-unknown', `There is no preset ${JSON.stringify(node.value)}.`);
  else if (isObject(base.spec) && Object.hasOwn(base.spec, 'base')) node.problem('preset-base', `${base.name} has a base itself.`);
}

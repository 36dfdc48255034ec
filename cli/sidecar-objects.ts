/** The objects a standalone sidecar serves. One wrong file stops the start: a typo must not silently take an action away. */
import type { ResourceObject } from '#core/contract/resource-object.ts';
import { readContractFiles } from './contract-files.ts';
import { renderProblem, sortProblems } from './render-problems.ts';
import { UsageError } from './report-failure.ts';

/** Throws UsageError with every problem of the files. */
export function readSidecarObjects(paths: readonly string[]): readonly ResourceObject[] {
  const { objects, problems } = readContractFiles(paths);
  if (problems.some(({ severity }) => severity === 'error')) {
    throw new UsageError(
      `the contract files cannot be read:\n${sortProblems(problems).map(renderProblem).join('\n')}`,
      'Mend them; "postern contract lint" shows the same.',
    );
  }
  return objects;
}

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { guardObjects, policies } from '#operator/guard/policies.ts';

const folder = join(import.meta.dirname, '../../charts/postern/templates/policies');

test('chart: each policy file is what operator/guard says, but for the namespace', () => {
  for (const guard of policies({ namespace: 'the-namespace', serviceAccount: 'postern-operator' })) {
    const text = readFileSync(join(folder, `${guard.name}.yaml`), 'utf8')
      .replace(/^\{\{-.*\n/, '')
      .replaceAll(/ +labels: \{\{-.*\n/g, '')
      .replaceAll('{{ .Release.Namespace | quote }}', '"the-namespace"')
      .replaceAll('{{ .Release.Namespace }}', 'the-namespace');
    assert.doesNotMatch(text, /\{\{/, guard.name);
    assert.deepEqual(
      parseAllDocuments(text).map((document) => document.toJS()),
      JSON.parse(JSON.stringify(guardObjects(guard))),
    );
  }
});

test('chart: the operator may look at every guard, or it could not tell when one is gone', () => {
  const text = readFileSync(join(folder, '../operator-rbac.yaml'), 'utf8').split(/^---$/m)[0] ?? '';
  const role: { rules: { resources: string[]; resourceNames?: string[]; verbs: string[] }[] } = parse(text.replaceAll(/^.*\{\{.*$/gm, ''));
  for (const resource of ['validatingadmissionpolicies', 'validatingadmissionpolicybindings']) {
    const rules = role.rules.filter(({ resources, verbs }) => resources.includes(resource) && verbs.includes('get'));
    const named = rules.flatMap(({ resourceNames = [] }) => resourceNames);
    const guards = policies({ namespace: 'the-namespace', serviceAccount: 'postern-operator' }).map(({ name }) => name);
    assert.deepEqual(
      guards.filter((name) => !named.includes(name)),
      [],
      resource,
    );
  }
});

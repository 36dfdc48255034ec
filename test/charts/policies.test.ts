import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { readYaml } from '#core/contract/read-yaml.ts';

const FRAME = 'apiVersion: postern.dev/v1alpha1\nkind: ContractPreset\nmetadata: {name: a-v1}\n';

test('read yaml: every document of a file is an object with its own lines; empty ones are none', () => {
  const text = `# a file\n---\n${FRAME}spec:\n  http:\n    headers: {a: b}\n---\n---\n${FRAME.replace('a-v1', 'b-v1')}spec: {base: a-v1}\n`;
  const { objects, problems } = readYaml(text, 'presets/two.yaml');
  assert.deepEqual(problems, []);
  assert.deepEqual(
    objects.map(({ name, namespace }) => [name, namespace]),
    [
      ['a-v1', 'default'],
      ['b-v1', 'default'],
    ],
  );
  assert.equal(objects[0]?.source?.file, 'presets/two.yaml');
  assert.equal(objects[0]?.source?.lineAt(['spec', 'http', 'headers', 'a']), 8);
  assert.equal(objects[0]?.source?.lineAt(['spec', 'http', 'nothing', 'here']), 7);
  assert.equal(objects[1]?.source?.lineAt(['spec', 'base']), 14);
});

test('read yaml: a broken document does not hide the others', () => {
  const { objects, problems } = readYaml(`${FRAME}spec: {}\n---\na: [\n---\n${FRAME.replace('a-v1', 'c-v1')}spec: {}\n`, 'f.yaml');
  assert.ok(problems.some(({ code }) => code === 'yaml-syntax'));
  assert.ok(objects.some(({ name }) => name === 'a-v1'));
});

test('read yaml: a document of somebody else is one problem, whatever is in it', () => {
  const foreign = ['apiVersion: apps/v1\nkind: Deployment\nmetadata: &m {name: UPPER}\ndata: *m\n', 'name: a-package\nversion: 1.0.0\n'];
  for (const text of foreign) {
    const { objects, problems } = readYaml(text, 'f.yaml');
    assert.deepEqual(objects, []);
    assert.deepEqual(
      problems.map(({ code, message }) => [code, /no object of Postern/.test(message)]),
      [['object-shape', true]],
    );
  }
});

test('read yaml: no object has a prototype, and no key of one is read as such', () => {
  const { objects } = readYaml(`${FRAME}spec: {constructor: {a: 1}}\n`, 'f.yaml');
  assert.equal(Object.getPrototypeOf(objects[0]?.spec), null);
  assert.deepEqual(Object.keys(objects[0]?.spec ?? {}), ['constructor']);
});

test('read yaml: any JSON value written as YAML is read back as it was', () => {
  const key = fc.string({ maxLength: 6 }).filter((text) => text !== '__proto__' && text !== '<<');
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string({ maxLength: 12 }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(value, (held) => {
      const { objects, problems } = readYaml(
        FRAME +
          stringify(
            { spec: { held } },
            { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'QUOTE_DOUBLE', aliasDuplicateObjects: false },
          ),
        'f.yaml',
      );
      assert.deepEqual(problems, []);
      assert.equal(JSON.stringify(objects[0]?.spec.held), JSON.stringify(held));
    }),
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseTemplate, SLOT_FORMATS, SLOT_ROOTS, slotsOf } from '#core/contract/slot.ts';

test('slot: root, path and format are read, and the text around stays', () => {
  assert.deepEqual(parseTemplate('a $(args.text|jqlString) b'), {
    template: ['a ', { root: 'args', path: ['text'], format: 'jqlString', text: '$(args.text|jqlString)' }, ' b'],
    faults: [],
  });
  assert.deepEqual(parseTemplate('$(resolve.shop.id)').template, [{ root: 'resolve', path: ['shop', 'id'], text: '$(resolve.shop.id)' }]);
  assert.deepEqual(parseTemplate('$(each)').template, [{ root: 'each', path: [], text: '$(each)' }]);
  assert.deepEqual(parseTemplate('$(args.path...)').template, [{ root: 'args', path: ['path'], spread: true, text: '$(args.path...)' }]);
});

test('slot: $$( is a literal opening and a lone dollar is a dollar', () => {
  assert.deepEqual(parseTemplate('$$(args.x)$ $5 $$'), { template: ['$(args.x)$ $5 $$'], faults: [] });
  assert.deepEqual(parseTemplate('$$$(args.x)').template, ['$$(args.x)']);
  assert.deepEqual(parseTemplate(''), { template: [], faults: [] });
});

const FAULTS: readonly (readonly [text: string, code: string, nearest: string | undefined])[] = [
  ['$(args.x', 'slot-malformed', undefined],
  ['$()', 'slot-malformed', undefined],
  ['$(args)', 'slot-malformed', undefined],
  ['$(resolve.shop)', 'slot-malformed', undefined],
  ['$(each.x)', 'slot-malformed', undefined],
  ['$(next.x...)', 'slot-malformed', undefined],
  ['$( args.x )', 'slot-malformed', undefined],
  ['$(args.x|)', 'slot-malformed', undefined],
  ['$(arg.x)', 'slot-unknown-root', 'args'],
  ['$(constant.x)', 'slot-unknown-root', 'constants'],
  ['$(args.x|epochsecond)', 'slot-unknown-format', 'epochSeconds'],
];
for (const [text, code, nearest] of FAULTS) {
  test(`slot: ${text} is ${code}`, () => {
    const { template, faults } = parseTemplate(text);
    assert.deepEqual(template, []);
    assert.deepEqual(
      faults.map((fault) => [fault.code, fault.nearest]),
      [[code, nearest]],
    );
  });
}

test('slot: all faults of a text are found', () => {
  assert.deepEqual(
    parseTemplate('$(a.b) $(c.d) $(args.e').faults.map(({ code }) => code),
    ['slot-unknown-root', 'slot-unknown-root', 'slot-malformed'],
  );
});

const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,8}$/);
const slot = fc
  .tuple(fc.constantFrom(...SLOT_ROOTS.filter((root) => root !== 'each')), name, name, fc.option(fc.constantFrom(...SLOT_FORMATS)))
  .map(
    ([root, first, second, format]) =>
      `$(${root}.${root === 'resolve' ? `${first}.${second}` : first}${format === null ? '' : `|${format}`})`,
  );
const literal = fc.string({ maxLength: 8 });

test('slot: any text between any slots comes back as written', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          slot.map((text) => ({ text, isSlot: true })),
          literal.map((text) => ({ text, isSlot: false })),
        ),
      ),
      (parts) => {
        // A dollar before a slot or a bracket would make another escape of it, so literals end without one here.
        const safe = parts.map((part) => (part.isSlot ? part : { ...part, text: part.text.replaceAll('$', 'S') }));
        const { template, faults } = parseTemplate(safe.map(({ text }) => text).join(''));
        assert.deepEqual(faults, []);
        assert.equal(template.map((part) => (typeof part === 'string' ? part : part.text)).join(''), safe.map(({ text }) => text).join(''));
        assert.deepEqual(
          slotsOf(template).map(({ text }) => text),
          safe.filter(({ isSlot }) => isSlot).map(({ text }) => text),
        );
      },
    ),
  );
});

test('slot: an escaped text never has a slot', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const plain = text.replaceAll('$', '');
      const { template, faults } = parseTemplate(plain.replaceAll('(', () => '$$('));
      assert.deepEqual(faults, []);
      assert.equal(
        template.join(''),
        plain.replaceAll('(', () => '$('),
      );
    }),
  );
});

/** The encoder of command lines, with real shells as the judges: what they split must be the words that were meant. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { isMisfit } from '#core/contract/encode.ts';
import { isPlainWord, shellWord, shellWords } from '#core/contract/shell-word.ts';

const SHELLS = [
  ['/bin/sh', '-c'],
  ['/bin/dash', '-c'],
  ['/bin/bash', '-c'],
  ['/bin/busybox', 'sh', '-c'],
  ['/bin/zsh', '-c'],
  ['/bin/ksh', '-c'],
].filter(([program = '']) => existsSync(program));

/** What `shell` makes of a line, as the program in it sees its arguments. */
function seenBy([program = '', ...flags]: readonly string[], words: readonly string[]): readonly string[] {
  const line = ['printf', '%s\\0', ...words].map(quoted).join(' ');
  const run = spawnSync(program, [...flags, line], {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  assert.equal(run.stderr, '');
  return run.stdout.split('\0').slice(0, -1);
}

function quoted(word: string): string {
  const encoded = shellWord(word);
  assert.ok(!isMisfit(encoded), JSON.stringify(encoded));
  return encoded;
}

const HOSTILE = [
  "'",
  "'; id #",
  '$(id)',
  '`id`',
  '*',
  '~',
  '~root',
  '!',
  '!!',
  '',
  ' ',
  '"',
  '\\',
  '\\n',
  "a'b'c",
  "''",
  'x;y|z&w<>',
  '$' + '{IFS}',
  '-e',
  '--',
  'é😀',
  '#',
  '{a,b}',
  '[a-z]',
  "\\'",
  "'\\''",
];

const anyWord = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'grapheme', maxLength: 40 }).filter((text) => !isMisfit(shellWord(text))),
  fc.string({ unit: fc.constantFrom("'", '\\', '"', '$', '`', ' ', 'a', '*', '~', '!'), maxLength: 20 }),
);

for (const shell of SHELLS) {
  test(`shell words: ${shell.slice(0, -1).join(' ')} sees exactly the words that were meant (SSH-14, SSH-15)`, () => {
    assert.deepEqual(seenBy(shell, HOSTILE), HOSTILE);
    fc.assert(
      fc.property(fc.array(anyWord, { minLength: 1, maxLength: 12 }), (words) => assert.deepEqual(seenBy(shell, words), words)),
      { numRuns: 60 },
    );
  });
}

test('shell words: sh, dash, bash and busybox are among the judges', () => {
  assert.ok(SHELLS.length >= 4, JSON.stringify(SHELLS));
});

test('shell words: a line read back gives the words it was made of, and nothing else is read', () => {
  fc.assert(
    fc.property(fc.array(anyWord, { minLength: 1, maxLength: 12 }), (words) =>
      assert.deepEqual(shellWords(words.map(quoted).join(' ')), words),
    ),
  );
  for (const line of ['', ' ', 'a', "'a", "'a' ", " 'a'", "'a'  'b'", "'a';'b'", "'a'\n'b'", "'a'b", '"a"', "'a'$(id)"]) {
    assert.equal(shellWords(line), undefined, JSON.stringify(line));
  }
});

test('shell words: line ends, NUL and other control characters are refused, not repaired (SSH-14)', () => {
  for (const text of ['a\nb', 'a\rb', 'a\0b', '\u001b[2J', 'a\u0085b', 'a\u2028b', '\t']) {
    const encoded = shellWord(text);
    assert.ok(isMisfit(encoded) && encoded.rule === 'control', JSON.stringify(text));
  }
  const lone = shellWord('\ud800');
  assert.ok(isMisfit(lone) && lone.rule === 'lone_surrogate');
});

test('shell words: a word of a forced command is plain to every shell', () => {
  for (const plain of ['status', 'deploy-2', 'a_b', '/usr/bin/x', 'v1.2']) assert.ok(isPlainWord(plain), plain);
  for (const other of ['', 'a b', "a'b", '$x', '~', 'a=b', 'a;b', '*', 'a\nb', '!']) assert.ok(!isPlainWord(other), other);
});

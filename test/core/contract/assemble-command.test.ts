/** Command lines from templates and values: what ends the options, and where a host is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assembleCommand } from '#core/contract/assemble-command.ts';
import { sshOrigin } from '#core/contract/ssh-origin.ts';
import { compileObject, objectOf } from './sample-objects.ts';

/** `words` with arguments `one` and `many`, which may be empty. */
function argvOf(words: readonly string[], args: Readonly<Record<string, string | readonly string[]>>): readonly string[] {
  const spec = `
action: read_box
summary: Read it
owner: team
effect: Read
readOnlyBecause: it only reads
callers: [{serviceAccount: bot}]
credentials: [hosts]
arguments:
  type: object
  additionalProperties: false
  required: [one, many]
  properties:
    one: {type: string, maxLength: 40}
    many: {type: array, maxItems: 3, items: {type: string, maxLength: 20}}
ssh: {credential: hosts, host: h.example.com, argv: ${JSON.stringify(words)}, shell: Posix}
result: {decoder: Lines, items: [/], as: lines, fields: [{name: line}]}
completeness: {paging: {mode: SingleResponse}}
`;
  const { contract, problems } = compileObject(objectOf('ActionContract', 'read-box', spec), { bindings: [] });
  assert.ok(contract?.target.kind === 'ssh', JSON.stringify(problems));
  const { target, resolve, constants } = contract;
  const values = { args, resolve, constants, next: {}, open: {}, source: {}, limits: {}, budget: {}, operation: { id: 'op_x' } };
  return assembleCommand(target, values).outbound.argv;
}

test('command: a -- that stands where an option expects its value ends nothing (SSH-15)', () => {
  const words = ['tool', '--unit', '$(args.many)', '--', '$(args.one)'];
  assert.deepEqual(argvOf(words, { many: ['a'], one: '-x' }), ['tool', '--unit', 'a', '--', '-x']);
  assert.throws(() => argvOf(words, { many: [], one: '-x' }), { reason: 'INVALID_ARGUMENT' });
  assert.throws(() => argvOf(words, { many: [], one: '--exec=id' }), { reason: 'INVALID_ARGUMENT' });
  assert.deepEqual(argvOf(words, { many: [], one: 'x' }), ['tool', '--unit', '--', 'x']);
});

test('command: a list that is empty behind the program or a plain word leaves -- as it is', () => {
  assert.deepEqual(argvOf(['tool', '$(args.many)', '--', '$(args.one)'], { many: [], one: '-x' }), ['tool', '--', '-x']);
  assert.deepEqual(argvOf(['tool', 'show', '$(args.many)', '--', '$(args.one)'], { many: [], one: '-x' }), ['tool', 'show', '--', '-x']);
});

test('command: the port of a host is 22 where none is written', () => {
  for (const [host, origin] of [
    ['h.example.com', 'ssh://h.example.com:22'],
    ['h.example.com:2222', 'ssh://h.example.com:2222'],
    ['[fd00::1]', 'ssh://[fd00::1]:22'],
    ['[fd00::1]:2222', 'ssh://[fd00::1]:2222'],
  ] as const)
    assert.equal(sshOrigin(host), origin);
});

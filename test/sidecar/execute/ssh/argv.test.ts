/** What an agent writes into an argument is one word of one command, seen by a real OpenSSH server and its shell. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { JsonValue } from '#core/contract/compiled.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { type Sshd, startSshd } from '#test/servers/sshd.ts';
import { openRig, type Rig, replyOf } from './ssh-rig.ts';

let server: Sshd;
before(async () => {
  server = await startSshd();
  const program = join(server.folder, 'tail-log');
  writeFileSync(
    program,
    "#!/bin/sh\nprintf '%s' \"$#\"\nfor word in \"$@\"; do printf ' '; printf '%s' \"$word\" | od -An -v -tx1 | tr -d ' \\n'; done\necho\n",
  );
  chmodSync(program, 0o755);
});
after(() => server[Symbol.asyncDispose]());

const ONE =
  'arguments: {type: object, additionalProperties: false, required: [unit], properties: {unit: {type: string, maxLength: 32768}}}';
const LIST =
  'arguments: {type: object, additionalProperties: false, required: [units], properties: {units: {type: array, maxItems: 5, items: {type: string, maxLength: 50}}}}';
const RESULT = 'result: {decoder: Lines, items: [/], as: lines, fields: [{name: line}]}';

function rigFor(words: string, args = ONE): Rig {
  return openRig({
    host: { origin: server.origin, pins: server.fingerprints, privateKey: server.privateKey, user: server.user },
    ssh: `argv: [${join(server.folder, 'tail-log')}, ${words}]\nshell: Posix`,
    spec: `${args}\n${RESULT}`,
  });
}

/** The words the program saw behind its name. */
async function seen(rig: Rig, args: Readonly<Record<string, JsonValue>>): Promise<readonly string[]> {
  const { body, exit } = replyOf(await rig.ask(args));
  assert.deepEqual(exit, { code: 0 });
  assert.ok(Array.isArray(body) && body.length === 1);
  const { line } = body[0] as { line: string };
  const [count, ...words] = line.split(' ');
  assert.equal(Number(count), words.length);
  return words.map((hex) => Buffer.from(hex, 'hex').toString('utf8'));
}

async function refusal(rig: Rig, args: Readonly<Record<string, JsonValue>>): Promise<PosternError> {
  const thrown = await rig.ask(args).then(
    () => assert.fail('it was sent'),
    (error) => error,
  );
  assert.ok(thrown instanceof PosternError && thrown.reason === 'INVALID_ARGUMENT', String(thrown));
  return thrown;
}

const UNCHANGED: readonly (readonly [string, string])[] = [
  ['SSH-14.02', '`id`'],
  ['SSH-14.08', '~root'],
  ['SSH-14.09', '!!'],
  ['SSH-14.14', 'x;y|z&w<>'],
  ['SSH-14', "'"],
  ['SSH-14', '$(id)'],
  ['SSH-14', '*'],
  ['SSH-14', ''],
  ['SSH-15', "x' ; id #"],
  ['SSH-15', '-oProxyCommand=id'],
  ['SSH-15', '--'],
];
for (const [id, unit] of UNCHANGED) {
  test(`${id}: ${JSON.stringify(unit)} is one word, byte for byte`, async () => {
    await using rig = rigFor('--, "$(args.unit)"');
    assert.deepEqual(await seen(rig, { unit }), ['--', unit]);
  });
}

const REFUSED: readonly (readonly [string, string, string])[] = [
  ['SSH-14.04', 'a\u0000b', 'control'],
  ['SSH-14', 'a\nb', 'control'],
  ['SSH-14.15', 'a'.repeat(131_072), 'too_long'],
];
for (const [id, unit, rule] of REFUSED) {
  test(`${id}: a value of ${unit.length} characters is refused by the rule ${rule}, and its argument is named`, async () => {
    await using rig = rigFor('--, "$(args.unit)"');
    const { fields } = await refusal(rig, { unit });
    assert.deepEqual(
      fields.map((field) => [field.path, field.rule]),
      [['/unit', rule]],
    );
  });
}

test('SSH-15: a value that begins with a dash is refused where the contract puts no -- before it', async () => {
  await using rig = rigFor('"$(args.unit)"');
  for (const unit of ['-oProxyCommand=id', '--', '-']) {
    const { fields } = await refusal(rig, { unit });
    assert.deepEqual(
      fields.map((field) => [field.path, field.rule]),
      [['/unit', 'leading_dash']],
    );
  }
  assert.deepEqual(await seen(rig, { unit: 'a-b' }), ['a-b']);
});

test('SSH-15: text before a slot says what the word is, so a dash behind it is data', async () => {
  await using rig = rigFor(
    '"--unit=$(args.count)"',
    ONE.replaceAll('unit', 'count').replace('{type: string, maxLength: 32768}', '{type: integer, minimum: -9, maximum: 9}'),
  );
  assert.deepEqual(await seen(rig, { count: -3 }), ['--unit=-3']);
});

test('SSH-15: a list becomes words of their own, each asked for itself', async () => {
  await using rig = rigFor('"$(args.units)"', LIST);
  assert.deepEqual(await seen(rig, { units: ['a b', "c'd"] }), ['a b', "c'd"]);
  const { fields } = await refusal(rig, { units: ['a', '-rf'] });
  assert.deepEqual(
    fields.map((field) => [field.path, field.rule]),
    [['/units/1', 'leading_dash']],
  );
});

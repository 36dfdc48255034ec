/**
 * Goal: without the identity nothing of arguments or credentials can be read in a chain, on disk or in the archive; and no credential even in
 * the opened records (AUD-25). Method: a real sidecar, credentials of every kind and arguments as canaries, an upstream that sends them back
 * in every form, and a search that shares nothing with the mask. What was kept is verified by the second verifier.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import type { Frame } from '#core/audit/frame.ts';
import { FrameReader } from '#core/audit/frame-reader.ts';
import { createFrameOpener } from '#core/audit/open.ts';
import { findPython } from '#test/clients/python/python.ts';
import { startTlsFront, type TlsFront } from '#test/servers/tls-front.ts';
import { VERIFIER } from '#test/verifier/python-verifier.ts';
import { type BindingName, bindingNames, canaryContracts, decoders } from './canary-contracts.ts';
import { type Canary, canariesIn } from './canary-search.ts';
import { formsOf, sendShape, shapeNames } from './echo-upstream.ts';
import { filesBelow } from './process-files.ts';
import { type Answer, type Stage, sendJson, startStage, startUpstream, type Upstream } from './stage.ts';

const run = promisify(execFile);

function secret(): string {
  const part = () => randomBytes(5).toString('hex');
  return `${part()}/${part()}+${part()}=~&"${part()}`;
}

type Slots = Readonly<Record<'token' | 'password' | 'issued' | 'user', string>>;

const slots = Object.fromEntries(
  bindingNames.map((name) => [
    name,
    { token: secret(), password: secret(), issued: `${randomBytes(9).toString('hex')}/+~`, user: `u${randomBytes(9).toString('hex')}` },
  ]),
) as Readonly<Record<BindingName, Slots>>;
const credentials: readonly Canary[] = bindingNames.flatMap((binding) =>
  (['token', 'password', 'issued', 'user'] as const).map((slot) => ({ name: `${binding} ${slot}`, value: slots[binding][slot] })),
);
/** What callers say: read and refused. */
const words: Canary = { name: 'words', value: secret() };
const refused: Canary = { name: 'refused words', value: secret() };

const state = mkdtempSync(join(tmpdir(), 'postern-audit-canary-'));
let identity = '';
let upstream: Upstream;
let front: TlsFront;
let stage: Stage;

const answer: Answer = ({ url, headers }, response) => {
  const [, place = '', decoder = '', shape = ''] = url.pathname.split('/');
  const own =
    slots[place === 'token' ? (decoder === 'basic' ? 'oauth2' : decoder === 'body' ? 'posted' : 'refused') : (place as BindingName)];
  if (place === 'token' && decoder === 'refused') return sendJson(response, 400, { error: own.password });
  if (place === 'token')
    return sendJson(response, 200, { access_token: own.issued, token_type: 'Bearer', expires_in: 3600, hint: own.password });
  if (decoder === 'reflect') return sendJson(response, 200, { words: url.searchParams.get('words'), headers });
  const known = [own.token, own.password, own.issued];
  sendShape(response, shape, { decoder, forms: known.flatMap(formsOf), secrets: known, later: url.searchParams.has('after') });
};

before(async () => {
  identity = await generateX25519Identity();
  upstream = await startUpstream(answer);
  front = await startTlsFront({ target: `http://127.0.0.1:${upstream.port}` });
  stage = await startStage({
    contracts: canaryContracts(front.url),
    upstreamPort: upstream.port,
    credentials: Object.fromEntries(
      bindingNames.flatMap((name) => [
        [`postern-${name}/ca.crt`, front.caPem],
        ...(['token', 'password', 'user'] as const).map((key) => [`postern-${name}/${key}`, slots[name][key]]),
      ]),
    ),
    flags: ['--state', state, '--audit-recipient', await identityToRecipient(identity)],
  });
});

after(async () => {
  await stage?.[Symbol.asyncDispose]();
  await front?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
  rmSync(state, { recursive: true, force: true });
});

test('audit canary: nothing of arguments or credentials is readable without the identity, and no credential with it (AUD-25)', async (t) => {
  for (const binding of bindingNames) {
    for (const decoder of decoders)
      for (const shape of shapeNames) await stage.call(`${binding}_${decoder}`, { shape }).catch(() => undefined);
    for (const form of formsOf(words.value)) await stage.call(`${binding}_reflect`, { words: form }).catch(() => undefined);
    for (const form of formsOf(refused.value)) await stage.refused(`${binding}_json`, { shape: form, [form]: Number.MAX_SAFE_INTEGER });
  }
  const everything = [...credentials, words, refused];
  search(['audit', 'audit-archive', 'audit-key.pub'], everything, 'while it runs');
  await stage[Symbol.asyncDispose]();
  search(['audit', 'audit-archive', 'audit-key.pub'], everything, 'after its end');

  const segments = filesBelow(join(state, 'audit-archive')).filter((path) => path.endsWith('.seg'));
  const records = await openedRecords(segments.toSorted((one, other) => basename(one).localeCompare(basename(other))));
  assert.ok(records.length > 2 * upstream.requests.length, `${records.length} records of ${upstream.requests.length} requests`);
  const text = records.join('\n');
  assert.deepEqual(canariesIn(text, credentials), []);
  assert.deepEqual(canariesIn(text, [words]), ['words'], 'what was asked is recorded, so this test shows something');

  const found = await findPython();
  if ('missing' in found) return t.skip(found.missing);
  const { stdout } = await run(found.python, [VERIFIER, '--key', join(state, 'audit-key.pub'), join(state, 'audit-archive')]);
  assert.match(stdout, /^chain: valid\nsignature: valid to sequence \d+, signed by /m);
});

function search(places: readonly string[], canaries: readonly Canary[], when: string): void {
  const files = filesBelow(state).filter((path) => places.some((place) => path.startsWith(join(state, place))));
  assert.ok(files.length > 1, when);
  for (const path of files) assert.deepEqual(canariesIn(readFileSync(path), canaries), [], `${path} ${when}`);
}

async function openedRecords(segments: readonly string[]): Promise<readonly string[]> {
  const opener = createFrameOpener([identity]);
  const frames: Frame[] = [];
  for (const path of segments)
    new FrameReader().push(readFileSync(path), (frame) => {
      frames.push(frame);
      return true;
    });
  const texts: string[] = [];
  for (const frame of frames.filter(({ form }) => form === 'sealed')) for (const { text } of await opener.open(frame)) texts.push(text);
  return texts;
}

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createSealer } from '#core/encoding/seal.ts';
import { ephemeralKeys, keptKeys, StateUnusable } from '#sidecar/cursor/keys.ts';

const directory = mkdtempSync(join(tmpdir(), 'postern-keys-'));
after(() => rmSync(directory, { recursive: true, force: true }));

test('keys: a restart keeps session and keys, readable by the owner only', () => {
  const state = join(directory, 'kept');
  const first = keptKeys(state);
  const sealed = createSealer('cursor', first.ring).seal('walk', first.session);
  const second = keptKeys(state);
  assert.equal(second.session, first.session);
  assert.equal(createSealer('cursor', second.ring).open(sealed, second.session), 'walk');
  assert.deepEqual(readdirSync(state), ['session.json']);
  assert.equal(statSync(join(state, 'session.json')).mode & 0o777, 0o600);
  assert.equal(statSync(state).mode & 0o777, 0o700);
});

test('keys: what was sealed with the previous key still opens', () => {
  const [old, current] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'));
  const state = mkdtempSync(join(directory, 'rotated-'));
  const path = join(state, 'session.json');
  writeFileSync(path, JSON.stringify({ session: 's', current: old }));
  const sealed = createSealer('cursor', keptKeys(state).ring).seal('walk', 's');
  writeFileSync(path, JSON.stringify({ session: 's', current, previous: old }));
  assert.equal(createSealer('cursor', keptKeys(state).ring).open(sealed, 's'), 'walk');
});

test('keys: a file that is not a session is refused, never replaced', () => {
  for (const text of ['', 'null', '{}', '{"session":"s","current":"c2hvcnQ="}', '{"session":"s","current":7}']) {
    const state = mkdtempSync(join(directory, 'bad-'));
    const path = join(state, 'session.json');
    writeFileSync(path, text);
    assert.throws(() => keptKeys(state), StateUnusable);
    assert.equal(statSync(path).size, text.length);
  }
});

test('keys: the instance tells two sessions apart, is kept by a restart, and is no key', () => {
  const state = join(directory, 'instance');
  const { instance } = keptKeys(state);
  assert.match(instance, /^sha256:[0-9a-f]{64}$/);
  assert.equal(keptKeys(state).instance, instance);
  assert.notEqual(ephemeralKeys().instance, instance);
  const kept: { current: string } = JSON.parse(readFileSync(join(state, 'session.json'), 'utf8'));
  assert.notEqual(Buffer.from(kept.current, 'base64').toString('hex'), instance.slice(7));
});

test('keys: two processes without a state share nothing', () => {
  const [one, other] = [ephemeralKeys(), ephemeralKeys()];
  assert.notEqual(one.session, other.session);
  assert.equal(createSealer('cursor', other.ring).open(createSealer('cursor', one.ring).seal('walk', 's'), 's'), null);
});

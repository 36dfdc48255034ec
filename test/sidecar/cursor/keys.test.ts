import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

test('keys: two processes without a state share nothing', () => {
  const [one, other] = [ephemeralKeys(), ephemeralKeys()];
  assert.notEqual(one.session, other.session);
  assert.equal(createSealer('cursor', other.ring).open(createSealer('cursor', one.ring).seal('walk', 's'), 's'), null);
});

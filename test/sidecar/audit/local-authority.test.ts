import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isSignedBy, makeSigningKey, parseNote, parseVerifier } from '#core/audit/signed-note.ts';
import { KeyUnusable, openLocalAuthority } from '#sidecar/audit/local-authority.ts';

function inFolder(run: (path: string) => Promise<void> | void): () => Promise<void> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'postern-authority-'));
    try {
      await run(join(folder, 'audit-key'));
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}

test(
  'local authority: makes its key once, for its owner alone, and says its public half beside it',
  inFolder(async (path) => {
    const { verifier } = openLocalAuthority(path);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(readFileSync(`${path}.pub`, 'utf8'), `${verifier}\n`);
    assert.equal(openLocalAuthority(path).verifier, verifier);
  }),
);

test(
  'local authority: certifies keys of epochs so that its public half shows it',
  inFolder(async (path) => {
    const authority = openLocalAuthority(path);
    const origin = 'postern.dev/audit/standalone/local/one';
    const note = parseNote(await authority.certify({ origin, epoch: 1, key: makeSigningKey(`${origin}/epoch-1`) }));
    const key = parseVerifier(authority.verifier);
    assert.ok(note !== undefined && key !== undefined && isSignedBy(note, key));
  }),
);

test(
  'local authority: refuses a key that others may read, one that is damaged, and a link',
  inFolder((path) => {
    openLocalAuthority(path);
    chmodSync(path, 0o640);
    assert.throws(() => openLocalAuthority(path), KeyUnusable);
    chmodSync(path, 0o600);
    writeFileSync(path, readFileSync(path, 'utf8').slice(0, -9));
    assert.throws(() => openLocalAuthority(path), KeyUnusable);
    symlinkSync(path, `${path}-link`);
    assert.throws(() => openLocalAuthority(`${path}-link`), KeyUnusable);
  }),
);

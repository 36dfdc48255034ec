/**
 * What is left of the story: a chain of records that its writer cannot read, that anybody can check, and that shows damage. With the real
 * commands; the sidecar has ended.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { FrameReader } from '#core/audit/frame-reader.ts';
import { say } from './say.ts';
import type { Workspace } from './workspace.ts';

/** Of whoever may read; its file is in the form of age-keygen. */
export async function makeAuditor({ identity }: Workspace): Promise<string> {
  const secret = await generateIdentity();
  const recipient = await identityToRecipient(secret);
  writeFileSync(identity, `# public key: ${recipient}\n${secret}\n`, { mode: 0o600 });
  return recipient;
}

export async function checkAudit(workspace: Workspace): Promise<void> {
  await verified(workspace);
  await readBack(workspace);
  await tampered(workspace);
  await cut(workspace);
}

async function verified({ auditKey, archive }: Workspace): Promise<void> {
  say.step('What was recorded? The sidecar sealed it to an auditor and cannot read it. Anybody can check that it is whole.');
  say.person('postern audit verify --key state/audit-key.pub audit/archive');
  const { code, out } = await postern('audit', 'verify', '--key', auditKey, archive);
  assert.equal(code, 0, out);
  assert.match(out, /^chain: valid\nsignature: valid to sequence/m);
  say.block(out);
}

async function readBack({ identity, archive }: Workspace): Promise<void> {
  say.step('The auditor reads it: what was asked, who agreed, what became of it.');
  say.person('postern audit read --identity audit/auditor.key --view activity --action write_off_items audit/archive');
  const { code, out } = await postern(
    'audit',
    'read',
    '--identity',
    identity,
    '--view',
    'activity',
    '--action',
    'write_off_items',
    archive,
  );
  assert.equal(code, 0);
  assert.match(out, /write_off_items +Destructive +ok/);
  say.block(out);
}

async function tampered({ archive, copy }: Workspace): Promise<void> {
  say.step('Somebody changes one byte in a copy of it.');
  const file = copied(archive, copy);
  const bytes = readFileSync(file);
  const { at, sequence } = framesOf(bytes).at(-3) ?? { at: 0, sequence: 1 };
  bytes.writeUInt8(bytes.readUInt8(at + 100) ^ 1, at + 100);
  writeFileSync(file, bytes);
  say.person('postern audit verify audit/copy');
  const { code, out } = await postern('audit', 'verify', copy);
  assert.equal(code, 1);
  const line = out.split('\n').find((each) => each.startsWith('chain: broken')) ?? '';
  assert.ok(line.startsWith(`chain: broken at sequence ${sequence}: `), out);
  say.fact(`${line}   (exit ${code})`);
}

async function cut({ archive, copy, head }: Workspace): Promise<void> {
  say.step('Somebody cuts off its end. No chain can show that by itself: it takes a head that is kept elsewhere.');
  const file = copied(archive, copy);
  const bytes = readFileSync(file);
  const frames = framesOf(bytes);
  const note = frames.findLast(({ kind }) => kind === 'checkpoint');
  const end = frames.at(-3);
  assert(note !== undefined && end !== undefined);
  writeFileSync(head, note.body);
  writeFileSync(file, bytes.subarray(0, end.at));
  say.person('postern audit verify audit/copy');
  const alone = await postern('audit', 'verify', copy);
  assert.equal(alone.code, 0, alone.out);
  tell(alone.out, alone.code, 'tail: not checked');
  say.person('postern audit verify --head audit/head.note audit/copy');
  const held = await postern('audit', 'verify', '--head', head, copy);
  assert.equal(held.code, 1);
  tell(held.out, held.code, 'tail: TRUNCATED: ');
}

function tell(out: string, code: number, begin: string): void {
  const line = out.split('\n').find((each) => each.startsWith(begin));
  assert(line !== undefined, out);
  say.fact(`${line}   (exit ${code})`);
}

/** The last segment of a fresh copy. */
function copied(archive: string, copy: string): string {
  rmSync(copy, { recursive: true, force: true });
  cpSync(archive, copy, { recursive: true });
  for (const beside of globSync('**/manifest-*.json', { cwd: copy })) rmSync(join(copy, beside));
  const last = globSync('**/*.seg', { cwd: copy }).sort().at(-1);
  assert(last !== undefined);
  return join(copy, last);
}

interface Place {
  readonly at: number;
  readonly sequence: number;
  readonly kind: string | undefined;
  readonly body: Uint8Array;
}

function framesOf(bytes: Buffer): readonly Place[] {
  const places: Place[] = [];
  let at = 0;
  new FrameReader().push(bytes, ({ sequence, heads, body, bytes: { length } }) => {
    places.push({ at, sequence, kind: heads[0]?.kind, body: Buffer.from(body) });
    at += length;
    return true;
  });
  return places;
}

function postern(...args: readonly string[]): Promise<{ readonly code: number; readonly out: string }> {
  const program = join(import.meta.dirname, '..', '..', 'cli', 'postern.mjs');
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { env: {} }, (error, out) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out });
    });
  });
}

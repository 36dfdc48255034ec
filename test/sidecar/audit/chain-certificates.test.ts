/** Certificates that came late: from the log itself the chain knows which epochs nobody has answered for. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Certificate, certify, parseCertificate } from '#core/audit/checkpoint.ts';
import { makeSigningKey, parseNote, verifierText } from '#core/audit/signed-note.ts';
import { judgeEpoch, type KnownEpoch } from '#operator/witness/epochs.ts';
import type { Authority } from '#sidecar/audit/authority.ts';
import { openLocalAuthority } from '#sidecar/audit/local-authority.ts';
import { freshFolder } from '#test/sidecar/wal/open-log.ts';
import { runPostern } from '../../cli/run-postern.ts';
import { entry, IDENTITY, ORIGIN, openChain, readChain } from './chain-stage.ts';

const KEY = makeSigningKey('postern.dev/authority/test');
const AWAY: Authority = { certify: () => Promise.reject(new Error('away')) };

/** As the operator judges, with what it keeps of a session. */
class Operator {
  readonly asked: number[] = [];
  known: KnownEpoch | undefined;

  async certify({ origin, epoch, key }: Certificate): Promise<string> {
    this.asked.push(epoch);
    const verdict = judgeEpoch(this.known, { origin, epoch, key: verifierText(key) }, KEY);
    if (verdict.kind === 'refused') throw new Error(verdict.because);
    this.known = { epoch, key: verifierText(key) };
    return verdict.note;
  }
}

async function run(folder: string, authority: Authority, until: (certified: readonly number[]) => boolean = () => true): Promise<void> {
  const chain = await openChain(folder, { authority });
  await chain.append(entry());
  while (!until(await certifiedIn(folder))) await new Promise((resolve) => setTimeout(resolve, 20));
  await chain.end();
  await chain.close();
}

/** Epochs in the order in which their certificates stand in the log. */
async function certifiedIn(folder: string): Promise<readonly number[]> {
  const { frames } = await readChain(folder);
  return frames.flatMap(({ heads: [head], body }) =>
    head?.kind === 'certificate' ? (parseCertificate(parseNote(Buffer.from(body).toString())?.text ?? '')?.epoch ?? 0) : [],
  );
}

async function verdictOn(folder: string, key = verifierText(KEY)): Promise<string> {
  const { code, out, err } = await runPostern(['audit', 'verify', '--key', key, folder]);
  return `${code} ${/^signature: .*$/m.exec(out)?.[0] ?? err}`;
}

test('certificates: an operator that was away for two epochs answers for them later, oldest first, and the chain is valid (AUD-04)', async (t) => {
  const folder = freshFolder(t);
  await run(folder, AWAY);
  await run(folder, AWAY);
  assert.match(await verdictOn(folder), /^1 signature: INVALID: /);
  const operator = new Operator();
  await run(folder, operator, (certified) => certified.length === 3);
  assert.deepEqual(
    [operator.asked, await certifiedIn(folder)],
    [
      [1, 2, 3],
      [1, 2, 3],
    ],
  );
  assert.match(await verdictOn(folder), /^0 signature: valid to sequence \d+, signed by postern\.dev\/authority\/test$/);
  await run(folder, operator, (certified) => certified.length === 4);
  assert.deepEqual(operator.asked, [1, 2, 3, 4], 'what is certified is not asked for again');
});

test('certificates: after SIGKILL before the answer, the next process gets it for the key that is gone (AUD-04)', async (t) => {
  const folder = freshFolder(t);
  const child = spawn(process.execPath, [join(import.meta.dirname, 'uncertified-process.ts'), folder, ORIGIN, IDENTITY.recipient], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await exited;
  const operator = new Operator();
  await run(folder, operator, (certified) => certified.length === 2);
  assert.deepEqual(operator.asked, [1, 2]);
  assert.match(await verdictOn(folder), /^0 signature: valid /);
});

test('certificates: the next epoch is asked for only once the answer before it is in the log, so no crash leaves a gap for ever', async (t) => {
  const folder = freshFolder(t);
  await run(folder, AWAY);
  const operator = new Operator();
  // It answers for epoch 1 and the process dies before that is recorded: the operator has not been asked for a later one.
  const answered = Promise.withResolvers<void>();
  const chain = await openChain(folder, {
    authority: {
      certify: async (certificate) => {
        await operator.certify(certificate);
        answered.resolve();
        return new Promise(() => {});
      },
    },
  });
  await answered.promise;
  await chain.close();
  assert.deepEqual(operator.known?.epoch, 1);
  await run(folder, operator, (certified) => certified.length === 3);
  assert.deepEqual(operator.asked, [1, 1, 2, 3]);
  assert.match(await verdictOn(folder), /^0 signature: valid /);
});

test('certificates: an epoch whose records were shipped and given back is still asked for, and only until it has its certificate', async (t) => {
  const folder = freshFolder(t);
  const bounds = { walSegmentBytes: 4_096, auditSegmentBytes: 3_000 };
  const chain = await openChain(folder, { authority: AWAY, bounds });
  for (let index = 0; index < 40; index += 1) await chain.append(entry());
  await chain.closeSegment();
  for (const segment of chain.closed()) await chain.shipped(segment);
  await chain.close();
  assert.ok(((await readChain(folder)).segments[0]?.statement.segment ?? 0) > 1, 'the beginning is gone');
  const operator = new Operator();
  const again = await openChain(folder, { authority: operator, bounds });
  while ((await certifiedIn(folder)).length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  for (let index = 0; index < 40; index += 1) await again.append(entry());
  await again.closeSegment();
  for (const segment of again.closed()) await again.shipped(segment);
  await again.close();
  await run(folder, operator, (certified) => certified.length === 1);
  assert.deepEqual(operator.asked, [1, 2, 3]);
});

test('certificates: a key file that cannot be read for a while answers for the epochs of that while, too', async (t) => {
  const folder = freshFolder(t);
  const path = join(freshFolder(t), 'audit-key');
  const { verifier } = openLocalAuthority(path);
  let isReadable = false;
  const authority: Authority = {
    certify: async (certificate) => {
      if (!isReadable) throw new Error('unreadable');
      return openLocalAuthority(path).certify(certificate);
    },
  };
  await run(folder, authority);
  await run(folder, authority);
  isReadable = true;
  await run(folder, authority, (certified) => certified.length === 3);
  assert.match(await verdictOn(folder, verifier), /^0 signature: valid /);
});

test('certificates: who takes the sidecar over in epoch 3 gets no other key of an epoch that has one, nor of one before it (AUD-04)', async () => {
  const operator = new Operator();
  const certificate = (epoch: number): Certificate => ({ origin: ORIGIN, epoch, key: makeSigningKey(`${ORIGIN}/epoch-${epoch}`) });
  const own = certificate(3);
  const note = await operator.certify(own);
  assert.equal(note, certify(own, KEY));
  await assert.rejects(operator.certify(certificate(3)), /other_key/);
  for (const epoch of [1, 2]) await assert.rejects(operator.certify(certificate(epoch)), /passed/);
  assert.equal(await operator.certify(own), note, 'asked again it answers alike');
});

/** `postern audit` as the shell sees it: verdicts of files, folders, stores and of the log of a sidecar. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileChains } from '#cli/audit-files.ts';
import { inOrder, storedChains } from '#cli/audit-source.ts';
import { signerText, verifierText } from '#core/audit/signed-note.ts';
import { systemClock } from '#core/bounds/clock.ts';
import { createFileObjects } from '#core/runtime/file-objects.ts';
import { Wal } from '#sidecar/wal/wal.ts';
import { ChainRig, verify, wholeChain } from '../core/audit/chain-rig.ts';
import { startSeaweedfs } from '../servers/seaweedfs.ts';
import { type Ran, runPostern } from './run-postern.ts';

describe('postern audit verify', () => {
  test('audit verify: prints what is proven and what was not checked, in lines of their own (AUD-27)', async () => {
    await using place = await folder();
    const rig = wholeChain();
    await store(place.path, rig);
    const ran = await runPostern(['audit', 'verify', place.path]);
    assert.deepEqual(ran, {
      code: 0,
      err: '',
      out: `verified: ${rig.last} records\nfirst sequence: 1\nlast sequence: ${rig.last}\nchain: valid\nsignature: not checked (--key)\ntail: not checked (--head)\n`,
    });
  });

  test('audit verify: takes key and head as files or as they are', async () => {
    await using place = await folder();
    const rig = wholeChain();
    await store(place.path, rig);
    const [key, head] = [join(place.path, 'audit.pub'), join(place.path, 'head.note')];
    await writeFile(key, `${verifierText(rig.authority)}\n`);
    await writeFile(head, rig.headNote());
    const byFile = await runPostern(['audit', 'verify', '--key', key, '--head', head, place.path]);
    const byText = await runPostern(['audit', 'verify', '--key', verifierText(rig.authority), '--head', rig.headNote(), place.path]);
    assert.equal(byFile.code, 0);
    assert.match(byFile.out, /\nsignature: valid to sequence \d+, signed by postern.dev\/authority\/test\n/);
    assert.match(byFile.out, new RegExp(`\ntail: nothing is missing up to sequence ${rig.last}\n`));
    assert.equal(byText.out, byFile.out);
  });

  test('audit verify: damage, a cut tail and a wrong key end with code 1, and name the place (AUD-01, AUD-07, AUD-12)', async () => {
    await using place = await folder();
    const rig = wholeChain();
    await store(place.path, rig);
    const head = join(place.path, 'head.note');
    await writeFile(head, rig.headNote());
    const last = join(place.path, segmentName(rig.files.length));
    await rm(last);
    const cut = await runPostern(['audit', 'verify', '--head', head, place.path]);
    assert.equal(cut.code, 1);
    assert.match(cut.out, new RegExp(`^chain: valid$[^]*^tail: TRUNCATED: head witnessed ${rig.last}, found \\d+$`, 'm'));

    const wrong = await runPostern(['audit', 'verify', '--key', verifierText(new ChainRig().authority), place.path]);
    assert.deepEqual([wrong.code, /^signature: INVALID: /m.test(wrong.out)], [1, true]);

    const first = join(place.path, segmentName(1));
    const bytes = await readFile(first);
    bytes[bytes.length - 40] = (bytes.at(-40) ?? 0) ^ 1;
    await writeFile(first, bytes);
    const damaged = await runPostern(['audit', 'verify', place.path]);
    assert.equal(damaged.code, 1);
    assert.match(damaged.out, /^chain: broken at sequence \d+: the hash of the frame does not fit its bytes$/m);
  });

  test('audit verify: nothing there is an error, and beside a head a finding (AUD-02)', async () => {
    await using place = await folder();
    const none = await runPostern(['audit', 'verify', place.path]);
    assert.deepEqual([none.code, none.out], [2, '']);
    assert.match(none.err, /There is no chain here/);
    const head = join(place.path, 'head.note');
    const rig = wholeChain();
    await writeFile(head, rig.headNote());
    const gone = await runPostern(['audit', 'verify', '--head', head, place.path]);
    assert.equal(gone.code, 1);
    assert.match(gone.out, new RegExp(`^verified: 0 records$[^]*^tail: TRUNCATED: head witnessed ${rig.last}, found 0$`, 'm'));
  });

  test('audit verify: each folder is a chain with a verdict of its own; one that is bad is enough', async () => {
    await using place = await folder();
    const [good, bad] = [wholeChain(), wholeChain(new ChainRig('postern.dev/audit/test/local/two'))];
    await store(join(place.path, 'a'), good);
    await store(join(place.path, 'deep', 'b'), bad);
    await appendFile(join(place.path, 'deep', 'b', segmentName(bad.files.length)), 'rest');
    await symlink(place.path, join(place.path, 'loop'));
    const { code, out } = await runPostern(['audit', 'verify', place.path]);
    assert.equal(code, 1);
    assert.deepEqual(
      [...out.matchAll(/^chain .*$/gm)].map(([line]) => line),
      [`chain ${good.origin}`, `chain ${bad.origin}`],
    );
    assert.match(out, new RegExp(`^chain: broken at sequence ${bad.last + 1}: `, 'm'));
    const json = JSON.parse((await runPostern(['audit', 'verify', '--json', place.path])).out);
    assert.equal(json.code, 1);
    assert.deepEqual(
      json.chains.map((chain: { good: boolean; broken_at: unknown }) => [chain.good, chain.broken_at]),
      [
        [true, null],
        [false, bad.last + 1],
      ],
    );
  });

  test('audit verify: files one by one are one chain, in whatever order they are named', async () => {
    await using place = await folder();
    const rig = wholeChain();
    await store(place.path, rig);
    const names = rig.files.map((_, index) => join(place.path, segmentName(index + 1)));
    const { code, out } = await runPostern(['audit', 'verify', ...names.reverse()]);
    assert.deepEqual([code, out.includes(`verified: ${rig.last} records`)], [0, true]);
  });

  test('audit verify: nothing of a hostile folder reaches the terminal (AUD-22)', async () => {
    await using place = await folder();
    const hostile = join(place.path, '\u001b[2Jevil\r');
    await mkdir(hostile);
    await writeFile(join(hostile, '1.seg'), '\u001b]0;pwned\u0007\r\nverified: 9 records');
    await writeFile(join(hostile, '2.seg'), '');
    await store(join(place.path, 'z'), wholeChain());
    for (const ran of [
      await runPostern(['audit', 'verify', place.path]),
      await runPostern(['audit', 'verify', '--json', place.path]),
      await runPostern(['audit', 'verify', join(hostile, 'missing\u001b[1m')]),
    ]) {
      assert.notEqual(ran.code, 0);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what may not be there.
      assert.doesNotMatch(ran.out + ran.err, /[\u0000-\u0009\u000b-\u001f\u007f]/);
      assert.doesNotMatch(ran.out, /^verified: 9/m);
    }
  });

  test('audit verify: manifests and kept intents tell of a tail that never came, and prove nothing', async () => {
    await using place = await folder();
    const rig = new ChainRig().beginEpoch().records();
    const files = rig.files;
    rig.beginSegment().records();
    const kept = rig.segments[1]?.[1];
    const file = rig.files[1] as Buffer;
    await mkdir(join(place.path, 'intents'), { recursive: true });
    await writeFile(join(place.path, segmentName(1)), files[0] as Buffer);
    await writeFile(join(place.path, 'intents', `${String(kept?.sequence).padStart(16, '0')}.frame`), kept?.bytes ?? '');
    await writeFile(join(place.path, 'intents', `${String(99).padStart(16, '0')}.frame`), 'no frame');
    const segments = [{ number: 2, first_sequence: 5, last_sequence: rig.last, bytes: file.length, sha256: hash('sha256', file) }];
    const manifest = { format: 'postern-audit-manifest/1', origin: rig.origin, segments, ended: true };
    await writeFile(join(place.path, `manifest-${String(rig.last).padStart(16, '0')}.json`), JSON.stringify(manifest));
    const { code, out } = await runPostern(['audit', 'verify', place.path]);
    assert.equal(code, 0);
    assert.match(
      out,
      new RegExp(`^note: 1 intents were kept beyond the end, to sequence ${kept?.sequence}: the tail of this chain is missing$`, 'm'),
    );
    assert.match(out, new RegExp(`^note: the manifest names 1 segments, to sequence ${rig.last}, that are not here whole`, 'm'));
  });
});

describe('postern audit verify, the log of a sidecar', () => {
  test('audit verify: reads the log while its writer holds it, and a torn tail is no damage', async () => {
    await using place = await folder();
    const rig = wholeChain();
    const wal = await Wal.open({ folder: place.path, clock: systemClock, onRecord: () => undefined });
    for (const { bytes } of rig.segments.flat()) await wal.append(bytes);
    const before = await runPostern(['audit', 'verify', '--key', verifierText(rig.authority), place.path]);
    assert.deepEqual([before.code, /^verified: (\d+) records$/m.exec(before.out)?.[1]], [0, String(rig.last)]);
    await wal.close();
    const log = (await readdir(place.path)).find((name) => name.endsWith('.wal')) ?? '';
    const bytes = await readFile(join(place.path, log));
    // The seal of an orderly end, cut in half: what a crash leaves of a write.
    await writeFile(join(place.path, log), bytes.subarray(0, -15));
    const torn = await runPostern(['audit', 'verify', place.path]);
    assert.equal(torn.code, 0);
    assert.match(torn.out, /^note: \d+ bytes of a write that was never acknowledged stand behind the end; that is no damage$/m);
  });

  test('audit verify: damage in the middle of the log is a verdict with its sequence', async () => {
    await using place = await folder();
    const rig = wholeChain();
    const wal = await Wal.open({ folder: place.path, clock: systemClock, onRecord: () => undefined });
    for (const { bytes } of rig.segments.flat()) await wal.append(bytes);
    await wal.close();
    const log = join(place.path, (await readdir(place.path)).find((name) => name.endsWith('.wal')) ?? '');
    const bytes = await readFile(log);
    const frame = rig.segments[0]?.[3];
    const at = bytes.indexOf(frame?.bytes ?? 'none');
    bytes[at + 70] = (bytes[at + 70] ?? 0) ^ 1;
    await writeFile(log, bytes);
    const { code, out } = await runPostern(['audit', 'verify', place.path]);
    assert.deepEqual([code, out.includes(`chain: broken at sequence ${frame?.sequence}: the log on the disk is damaged`)], [1, true], out);
  });
});

describe('postern audit verify, a store and the log of its sidecar', () => {
  /** The first segments are stored; the log has what its disk still holds: everything from segment `from` on. */
  async function storedAndLog(place: string, stored: number, from: number): Promise<{ readonly rig: ChainRig; readonly paths: string[] }> {
    const rig = wholeChain();
    const paths = [join(place, 'archive'), join(place, 'log')];
    await mkdir(paths[0] ?? '', { recursive: true });
    for (const [index, file] of rig.files.slice(0, stored).entries()) await writeFile(join(place, 'archive', segmentName(index + 1)), file);
    const wal = await Wal.open({ folder: join(place, 'log'), clock: systemClock, onRecord: () => undefined });
    for (const { bytes } of rig.segments.slice(from).flat()) await wal.append(bytes);
    await wal.close();
    return { rig, paths };
  }

  for (const [what, stored, from] of [
    ['begins where the store ends', 2, 2],
    ['still has what is stored', 2, 0],
  ] as const) {
    test(`audit verify: a log that ${what} is one chain with it`, async () => {
      await using place = await folder();
      const { rig, paths } = await storedAndLog(place.path, stored, from);
      const { code, out } = await runPostern(['audit', 'verify', '--key', verifierText(rig.authority), ...paths]);
      assert.deepEqual([code, out.match(/^verified: .*$/gm)], [0, [`verified: ${rig.last} records`]], out);
      assert.match(out, /^signature: valid to sequence \d+/m);
      assert.match(out, /^note: what is stored ends at sequence \d+; from there on the log .* was checked$/m);
    });
  }

  test('audit verify: a log that leaves out what follows the store is broken there (AUD-01)', async () => {
    await using place = await folder();
    const { rig, paths } = await storedAndLog(place.path, 1, 2);
    const missing = rig.segments[1]?.[0]?.sequence;
    const { code, out } = await runPostern(['audit', 'verify', ...paths]);
    assert.deepEqual([code, out.match(/^chain: broken at sequence (\d+)/m)?.[1]], [1, String(missing)], out);
  });

  test('audit verify: a log without its beginning says with what it must be checked', async () => {
    await using place = await folder();
    const { paths } = await storedAndLog(place.path, 2, 2);
    const { code, out } = await runPostern(['audit', 'verify', paths[1] ?? '']);
    assert.equal(code, 0, out);
    assert.match(
      out,
      /^note: this log begins where what was before it was shipped; give the store beside it, and both are checked as one chain$/m,
    );
  });
});

describe('postern audit, sources', () => {
  test('audit verify: a store is read as its folders are', async () => {
    await using place = await folder();
    const rig = wholeChain();
    await store(join(place.path, 'prod', 'triage'), rig);
    const stored = await storedChains(createFileObjects(place.path), 's3://audit/');
    const local = await fileChains([place.path]);
    for (const chains of [stored, local]) {
      const files: Buffer[] = [];
      for (const segment of await inOrder(chains[0]?.segments ?? [])) {
        const pieces: Buffer[] = [];
        for await (const piece of segment.pieces()) pieces.push(Buffer.from(piece));
        files.push(Buffer.concat(pieces));
      }
      assert.deepEqual([chains.length, verify(files).lastSequence], [1, rig.last]);
    }
  });
});

describe('postern audit verify, a bucket', () => {
  test('audit verify: reads the chains below a prefix of a real S3 server', async () => {
    await using server = await startSeaweedfs();
    await server.createBucket('audit');
    const rig = wholeChain();
    for (const [index, file] of rig.files.entries())
      await server.putObject('audit', `prod/triage/2026-12-01/uid/${segmentName(index + 1)}`, file);
    const address = `s3://audit/prod?region=${server.region}&endpoint=${encodeURIComponent(server.endpoint)}`;
    const env = { AWS_ACCESS_KEY_ID: server.accessKeyId, AWS_SECRET_ACCESS_KEY: server.secretAccessKey };
    const { code, out, err } = await runPostern(['audit', 'verify', '--key', verifierText(rig.authority), address], env);
    assert.deepEqual([code, /^verified: (\d+) records$/m.exec(out)?.[1]], [0, String(rig.last)], err);
    const none = await runPostern(['audit', 'verify', address.replace('prod', 'none')], env);
    assert.match(none.err, /There is no chain here/);
  });
});

describe('postern audit key', () => {
  test('audit key: prints the public half, and refuses anything else without repeating it', async () => {
    await using place = await folder();
    const { authority } = new ChainRig();
    const file = join(place.path, 'audit-key');
    await writeFile(file, `${signerText(authority)}\n`);
    assert.deepEqual(await runPostern(['audit', 'key', file]), { code: 0, out: `${verifierText(authority)}\n`, err: '' } satisfies Ran);
    await writeFile(file, 'PRIVATE+KEY+secret');
    const { code, out, err } = await runPostern(['audit', 'key', file]);
    assert.deepEqual([code, out, err.includes('secret')], [2, '', false]);
  });
});

async function folder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'postern-audit-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

async function store(path: string, rig: ChainRig): Promise<void> {
  await mkdir(path, { recursive: true });
  for (const [index, file] of rig.files.entries()) await writeFile(join(path, segmentName(index + 1)), file);
}

function segmentName(number: number): string {
  return `${String(number).padStart(10, '0')}.seg`;
}

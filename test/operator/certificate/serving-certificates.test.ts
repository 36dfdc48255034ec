import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { pinServerName } from '#core/resource/names.ts';
import { createAuthority, type KeyAndCertificate } from '#operator/certificate/issue.ts';
import { pinOf } from '#operator/certificate/pin.ts';
import { ServingCertificates } from '#operator/certificate/serving-certificates.ts';
import { mountedAuthority } from './mounted-authority.ts';

const HOST = 'postern-operator.postern-system.svc';
const HOURS = 3_600_000;

const files = (slot: string, { certificatePem, keyPem }: KeyAndCertificate) => ({
  [`${slot}.crt`]: certificatePem,
  [`${slot}.key`]: keyPem,
});
const pinIn = ({ certificatePem }: KeyAndCertificate) => pinOf(new X509Certificate(certificatePem));

async function setUp() {
  const time = { offsetMs: 0 };
  const clock: Clock = { ...systemClock, wallMs: () => Date.now() + time.offsetMs };
  const current = await createAuthority(clock.wallMs());
  const mounted = await mountedAuthority(files('ca', current));
  const problems: string[] = [];
  const open = () =>
    ServingCertificates.open({
      folder: mounted.folder,
      hosts: [HOST],
      clock,
      random: () => 0,
      onProblem: ({ message }) => problems.push(message),
    });
  return { time, clock, current, mounted, problems, open, certificates: await open() };
}

/** A TLS server as the operator's ports are: the certificate is asked for at each handshake. */
async function serve(certificates: ServingCertificates) {
  const server = createServer({ minVersion: 'TLSv1.3', SNICallback: (name, answer) => answer(null, certificates.contextFor(name)) });
  server.on('secureConnection', (socket) => socket.on('error', () => undefined).pipe(socket));
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, [Symbol.asyncDispose]: async () => void server.close() };
}

async function dial(port: number, servername: string, ca: string): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, servername, ca });
  await once(socket, 'secureConnect');
  return socket;
}

test('certificates: an API server that trusts the bundle and a sidecar that asks by pin both verify what they are shown', async () => {
  const { certificates, current, mounted } = await setUp();
  await using _ = mounted;
  await using server = await serve(certificates);
  assert.equal(certificates.pin, pinIn(current));
  for (const name of [HOST, pinServerName(certificates.pin)]) {
    const socket = await dial(server.port, name, certificates.caBundle);
    const issuer = socket.getPeerX509Certificate()?.issuerCertificate;
    assert.ok(issuer !== undefined);
    assert.equal(pinOf(issuer), certificates.pin, 'the chain ends in the pinned key');
    socket.destroy();
  }
});

test('certificates: nobody else’s name is answered', async () => {
  const { certificates, mounted } = await setUp();
  await using _ = mounted;
  assert.equal(certificates.contextFor('other.example'), undefined);
  assert.equal(certificates.contextFor(pinServerName(`sha256:${'0'.repeat(64)}`)), undefined);
  assert.notEqual(certificates.contextFor(HOST.toUpperCase()), undefined);
});

test('certificates: a leaf lives a day and is renewed at half of it, and an open connection stays', async () => {
  const { certificates, time, mounted, clock } = await setUp();
  await using _ = mounted;
  await using server = await serve(certificates);
  let changes = 0;
  certificates.onChange(() => {
    changes += 1;
  });
  const { leaf } = certificates.expiriesMs();
  assert.ok(leaf !== undefined && Math.abs(leaf - clock.wallMs() - 24 * HOURS) < 60_000);
  const before = certificates.identity.certificatePem;
  const socket = await dial(server.port, HOST, certificates.caBundle);

  time.offsetMs = 11 * HOURS;
  await certificates.check();
  assert.equal(certificates.identity.certificatePem, before);
  time.offsetMs = 12 * HOURS + 1_000;
  await certificates.check();
  assert.notEqual(certificates.identity.certificatePem, before);
  assert.equal(changes, 1);

  socket.write('still here');
  const [echo] = await once(socket, 'data');
  assert.equal(String(echo), 'still here');
  socket.destroy();
});

test('certificates: a leaf made while the clock was ahead is made anew once the clock is right (INJ-04)', async () => {
  const { certificates, time, mounted } = await setUp();
  await using _ = mounted;
  time.offsetMs = 72 * HOURS;
  await certificates.check();
  time.offsetMs = 0;
  await certificates.check();
  const { validFromDate } = new X509Certificate(certificates.identity.certificatePem);
  assert.ok(validFromDate.getTime() < Date.now());
});

test('certificates: renewals of replicas are spread', async () => {
  const { mounted, time, clock } = await setUp();
  await using _ = mounted;
  const early = await ServingCertificates.open({ folder: mounted.folder, hosts: [HOST], clock, random: () => 0.999 });
  const before = early.identity.certificatePem;
  time.offsetMs = 10 * HOURS;
  await early.check();
  assert.notEqual(early.identity.certificatePem, before);
});

test('certificates: during a rotation sidecars of both CAs are answered, and the bundle holds all (INJ-04)', async () => {
  const { certificates, current, mounted, clock } = await setUp();
  await using _ = mounted;
  await using server = await serve(certificates);
  const next = await createAuthority(clock.wallMs());
  await mounted.mount({ ...files('ca', current), ...files('next', next) });
  await certificates.check();
  assert.deepEqual(certificates.pins, [pinIn(current), pinIn(next)]);
  (await dial(server.port, pinServerName(pinIn(next)), next.certificatePem)).destroy();

  await mounted.mount({ ...files('ca', next), ...files('previous', current) });
  await certificates.check();
  assert.equal(certificates.pin, pinIn(next));
  (await dial(server.port, pinServerName(pinIn(current)), current.certificatePem)).destroy();
  (await dial(server.port, HOST, next.certificatePem)).destroy();
  assert.ok(certificates.caBundle.includes(new X509Certificate(current.certificatePem).toString().trim()));
  assert.deepEqual(Object.keys(certificates.expiriesMs()), ['leaf', 'authority', 'previous_authority']);

  await mounted.mount(files('ca', next));
  await certificates.check();
  assert.equal(certificates.contextFor(pinServerName(pinIn(current))), undefined);
});

test('certificates: a Secret that somebody breaks is reported once, and what was served goes on, renewed', async () => {
  const { certificates, current, mounted, problems, time, clock } = await setUp();
  await using _ = mounted;
  const other = await createAuthority(clock.wallMs());
  await mounted.mount({ 'ca.crt': current.certificatePem, 'ca.key': other.keyPem });
  await certificates.check();
  await certificates.check();
  assert.deepEqual(problems, ['ca.key is not the key of ca.crt: restore the Secret.']);
  assert.equal(certificates.pin, pinIn(current));
  const before = certificates.identity.certificatePem;
  time.offsetMs = 13 * HOURS;
  await certificates.check();
  assert.notEqual(certificates.identity.certificatePem, before);
  await mounted.mount(files('ca', other));
  await certificates.check();
  assert.equal(certificates.pin, pinIn(other));
});

test('certificates: a file that cannot be read is a problem that is told, never the end of the watch over the CA', async () => {
  const { certificates, current, mounted, problems } = await setUp();
  await using _ = mounted;
  await mounted.mount({ 'ca.key': current.keyPem });
  await mkdir(join(mounted.folder, '..data', 'ca.crt'));
  await certificates.check();
  assert.deepEqual(problems, ['ca.crt cannot be read: mount the Secret so that the operator may read it.']);
  assert.equal(certificates.pin, pinIn(current));
});

test('certificates: without a CA to begin with the operator does not start, and says what to run', async () => {
  const { open, mounted } = await setUp();
  await using _ = mounted;
  await mounted.mount({});
  await assert.rejects(open(), { name: 'AuthorityError', message: 'ca.crt and ca.key are not there: run `postern authority create`.' });
});

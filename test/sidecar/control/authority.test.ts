/**
 * Whom a sidecar believes to be its operator. Every stranger here is a real TLS server with a certificate of its own; each is met twice:
 * by the look at the chain, and by the connection itself, which must refuse the stranger alone too.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { SecureContext } from 'node:tls';
import { pinServerName } from '#core/resource/names.ts';
import { connect } from '#core/runtime/grpc-client.ts';
import { ControlService } from '#proto/postern/control/v1/control_pb.ts';
import { pinOfPem, presenting, replicaCertificate, startFakeOperator } from '#test/fakes/operator.ts';
import { strangeAuthority, strangeLeaf } from '#test/fakes/strange-certificates.ts';
import { type Authority, createAuthority } from '#test/servers/certificates.ts';
import { startLink } from './link-rig.ts';

let authority: Authority;
let pin: string;
let name: string;

before(async () => {
  authority = await createAuthority();
  pin = pinOfPem(authority.caPem);
  name = pinServerName(pin);
});

test('authority: a leaf signed by the pinned key, for the pinned name, is believed', async () => {
  await using operator = await startFakeOperator({ certificate: await replicaCertificate(authority) });
  await using link = startLink({ port: operator.port, pin });
  assert.equal((await operator.stream(0)).authorization, 'Bearer first-token');
  assert.equal(link.ends.length, 0);
});

interface Stranger {
  readonly what: string;
  readonly end: Parameters<Awaited<ReturnType<typeof startLink>>['ended']>[0];
  certificate(): Promise<SecureContext>;
}

const STRANGERS: readonly Stranger[] = [
  {
    what: 'a replica of another CA',
    end: 'certificate_unpinned',
    certificate: async () => replicaCertificateOf(await createAuthority()),
  },
  {
    what: 'a self-signed leaf',
    end: 'certificate_unpinned',
    certificate: async () => presenting(await strangeLeaf({ name })),
  },
  {
    what: 'a self-signed leaf with the right CA appended',
    end: 'certificate_untrusted',
    certificate: async () => presenting(await strangeLeaf({ name }), authority.caPem),
  },
  {
    what: 'a leaf of another CA with the right CA appended',
    end: 'certificate_untrusted',
    certificate: async () => {
      const other = await createAuthority('Another CA');
      return presenting(await other.issue({ commonName: 'operator', hosts: [name] }), other.caPem, authority.caPem);
    },
  },
  {
    what: 'a leaf of a CA that took the name of the right one, with the right one appended',
    end: 'certificate_untrusted',
    certificate: async () => {
      const impostor = await strangeAuthority({ namedAs: authority.caPem });
      return presenting(await strangeLeaf({ name, by: impostor }), authority.caPem);
    },
  },
  {
    what: 'a leaf of a CA whose certificate shows the pinned key that it does not have',
    end: 'certificate_unpinned',
    certificate: async () => {
      const thief = await strangeAuthority({ namedAs: authority.caPem, publicKeyOf: authority.caPem });
      return presenting(await strangeLeaf({ name, by: thief }), thief.pem);
    },
  },
  {
    what: 'an expired leaf',
    end: 'certificate_expired',
    certificate: async () =>
      presenting(await authority.issue({ commonName: 'operator', hosts: [name], lifetimeMs: -60_000 }), authority.caPem),
  },
  {
    what: 'a leaf for another name',
    end: 'certificate_name',
    certificate: async () =>
      presenting(await authority.issue({ commonName: name, hosts: [`other.${name}`, '127.0.0.1'] }), authority.caPem),
  },
  {
    what: 'a certificate of a client',
    end: 'certificate_untrusted',
    certificate: async () => presenting(await authority.issue({ commonName: name }), authority.caPem),
  },
  {
    what: 'the right leaf without its CA',
    end: 'certificate_unpinned',
    certificate: async () => presenting(await authority.issue({ commonName: 'operator', hosts: [name] })),
  },
];

async function replicaCertificateOf(other: Authority): Promise<SecureContext> {
  return presenting(await other.issue({ commonName: 'operator', hosts: [name] }), other.caPem);
}

for (const { what, end, certificate } of STRANGERS) {
  test(`authority: ${what} is ${end}, and never sees the token`, async () => {
    await using operator = await startFakeOperator({ certificate: await certificate() });
    await using link = startLink({ port: operator.port, pin });
    await link.ended(end);
    assert.equal(operator.streams.length, 0);
    const line = link.lines.find(({ message }) => message === 'control stream ended');
    assert.deepEqual([line?.reason, line?.level], [end, 'warn']);
  });

  // The right leaf lacks nothing here: this client is given the CA.
  if (what === 'the right leaf without its CA') continue;
  test(`authority: the connection alone refuses ${what}`, async () => {
    await using operator = await startFakeOperator({ certificate: await certificate() });
    const connection = connect(`127.0.0.1:${operator.port}`, { tls: { ca: authority.caPem, serverName: name } });
    const stream = connection.client(ControlService).connect({ authorization: 'Bearer not-to-be-seen' });
    stream.send({ message: { case: 'hello', value: { version: '0.1.0' } } });
    await assert.rejects(
      async () => {
        for await (const message of stream) assert.fail(`heard ${message.message.case}`);
      },
      { reason: 'REMOTE_UNAVAILABLE' },
    );
    connection.close();
    assert.equal(operator.streams.length, 0);
  });
}

test('authority: a replica that turns stranger after a good stream is refused at the next one, with its reason', async () => {
  const good = await startFakeOperator({ certificate: await replicaCertificate(authority) });
  await using link = startLink({ port: good.port, pin });
  await good.stream(0);
  await good[Symbol.asyncDispose]();
  const expired = presenting(await authority.issue({ commonName: 'operator', hosts: [name], lifetimeMs: -60_000 }), authority.caPem);
  await using stranger = await startFakeOperator({ certificate: expired, port: good.port });
  await link.ended('certificate_expired');
  assert.equal(stranger.streams.length, 0);
});

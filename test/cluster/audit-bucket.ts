/** What a stranger finds in the bucket of a cluster test. */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseStoreAddress } from '#core/audit/store-address.ts';
import { systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { openStore } from '#core/runtime/open-store.ts';
import { nodeAddress } from '#test/servers/node-network.ts';
import { startSeaweedfs } from '#test/servers/seaweedfs.ts';
import { startTlsFront } from '#test/servers/tls-front.ts';

export interface AuditBucket extends AsyncDisposable {
  /** `s3://...`, as the chart and the command line take it. */
  readonly url: string;
  /** An AWS shared credentials file. */
  readonly credentials: string;
  /** For whoever reads it with the command line tool. */
  readonly env: Readonly<Record<string, string>>;
  /** The only root that vouches for it. */
  readonly caPem: string;
  names(): Promise<readonly string[]>;
  object(name: string): Promise<Buffer>;
}

/** At an address that operator and sidecars reach from their pods, behind a CA that nobody knows without being told. */
export async function startAuditBucket(): Promise<AuditBucket> {
  const stack = new AsyncDisposableStack();
  try {
    const s3 = stack.use(await startSeaweedfs({ address: nodeAddress }));
    await s3.createBucket('audit');
    const front = stack.use(await startTlsFront({ target: s3.endpoint, address: nodeAddress }));
    const caFile = join(tmpdir(), 'audit-store-ca.crt');
    writeFileSync(caFile, front.caPem);
    const url = `s3://audit/chains?region=${s3.region}&endpoint=${encodeURIComponent(front.url)}`;
    const env = { AWS_ACCESS_KEY_ID: s3.accessKeyId, AWS_SECRET_ACCESS_KEY: s3.secretAccessKey, AWS_CA_BUNDLE: caFile };
    const store = stack.use(await openStore(parseStoreAddress(url), { clock: systemClock, env }));
    return {
      url,
      env,
      caPem: front.caPem,
      credentials: `[default]\naws_access_key_id = ${s3.accessKeyId}\naws_secret_access_key = ${s3.secretAccessKey}\n`,
      names: async () => {
        const names: string[] = [];
        for await (const { name } of store.list('')) names.push(name);
        return names;
      },
      object: async (name) => {
        const bytes = await store.read(name, limits.auditSegmentFileBytesMax);
        if (bytes === undefined) throw new Error(`the store has no ${name}`);
        return bytes;
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

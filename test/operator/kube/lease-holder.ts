/**
 * A replica for the test that stops it: leads if it can, writes a ConfigMap as fast as it may, and says so on standard output:
 * `leading`, `wrote`, `lost`. Ends with code 7 when it leads no longer, as the operator does.
 */
import { createApiTransport } from '#operator/kube/api-transport.ts';
import { Lease } from '#operator/kube/lease.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';

interface Input {
  readonly url: string;
  readonly caPem: string;
  readonly adminToken: string;
  readonly timings: { readonly durationMs: number; readonly renewMs: number; readonly retryMs: number };
}

const { url, caPem, adminToken, timings } = JSON.parse(process.env.LEASE_HOLDER ?? '') as Input;
const transport = createApiTransport({
  server: url,
  tls: { ca: caPem, rejectUnauthorized: true },
  namespace: 'default',
  headers: async () => ({ authorization: `Bearer ${adminToken}` }),
});
const lease = new Lease({
  transport,
  namespace: 'default',
  name: 'fenced',
  replica: 'stopped',
  timings,
  onGained: (term) => {
    process.stdout.write('leading\n');
    const client = lease.fencedClient(transport, term);
    void (async () => {
      for (let count = 0; !term.aborted; count += 1) {
        await client.apply(
          KINDS.configMaps,
          { metadata: { name: 'written', namespace: 'default' }, data: { by: 'stopped', count: String(count) } },
          { manager: 'stopped', force: true },
        );
        process.stdout.write('wrote\n');
      }
    })().catch((error: Error) => process.stdout.write(`refused ${error.name}\n`));
  },
  onLost: () => {
    process.stdout.write('lost\n');
    // Time for a write that should not come, if there were one.
    setTimeout(() => process.exit(7), 500);
  },
});
lease.start();

/** The operator as a process of its own, outside a pod: told where the API server is by one JSON line, tells its ports by one. */
import { createInterface } from 'node:readline';
import { connectionTo } from '#operator/kube/connect.ts';
import { startOperator } from '#operator/main.ts';
import { readOperatorSettings } from '#operator/settings.ts';

export interface OperatorOrders {
  readonly server: string;
  readonly ca: string;
  readonly token: string;
  /** `POSTERN_*` */
  readonly env: Readonly<Record<string, string>>;
}

export interface OperatorPorts {
  readonly controlPort: number;
  readonly webhookPort: number;
  readonly adminPort: number;
}

async function main(): Promise<void> {
  const lines = createInterface({ input: process.stdin });
  const first = await lines[Symbol.asyncIterator]().next();
  const { server, ca, token, env } = JSON.parse(String(first.value)) as OperatorOrders;
  const read = readOperatorSettings(env);
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const connection = connectionTo({
    server,
    tls: { ca, rejectUnauthorized: true },
    namespace: 'postern-system',
    headers: async () => ({ authorization: `Bearer ${token}` }),
  });
  const operator = await startOperator({ settings: read.settings, version: '0.1.0', connection, hosts: ['localhost'] });
  const { controlPort, webhookPort, adminPort } = operator;
  process.stdout.write(`${JSON.stringify({ controlPort, webhookPort, adminPort })}\n`);
  process.once('SIGTERM', () => void operator.stop().then(() => process.exit(0)));
}

void main();

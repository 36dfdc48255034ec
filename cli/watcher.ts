/** `postern watcher`: notices changed Secrets for clusters where nobody announces them. */
import { Command, Option } from 'commander';
import { EXIT } from './exit.ts';
import { UsageError } from './report-failure.ts';
import { untilTold } from './until-told.ts';

const LEVELS = ['error', 'warn', 'info', 'debug'] as const;

interface Options {
  readonly adminPort: string;
  readonly logLevel: (typeof LEVELS)[number];
}

export function watcherCommand(): Command {
  return new Command('watcher')
    .description('Tell the operator when a bound Secret has a new value. Runs in a pod; off by default, because it may list Secrets.')
    .option('--admin-port <port>', 'port of /livez and /readyz', '7718')
    .addOption(
      new Option('--log-level <LEVEL>', 'how much to log, as JSON lines on standard error')
        .choices(LEVELS)
        .env('POSTERN_LOG_LEVEL')
        .default('info'),
    )
    .action(watch);
}

async function watch({ adminPort, logLevel }: Options): Promise<void> {
  const { startWatcher, watcherProblems } = await import('#operator/watcher.ts');
  const { connectInCluster } = await import('#operator/kube/connect.ts');
  const { ConnectError } = await import('#operator/kube/api-access.ts');
  const { createLog } = await import('#core/runtime/log.ts');
  const problems = watcherProblems();
  if (problems.length > 0) throw new UsageError(problems.join('\n'), 'Start it with the environment of the chart and no flags of Node.');
  const port = /^\d{1,5}$/.test(adminPort) ? Number(adminPort) : Number.NaN;
  if (!(port <= 65_535)) throw new UsageError('--admin-port is no port', 'Write a number up to 65535; 0 takes a free one.');
  const connection = await connectInCluster({ env: process.env }).catch((thrown: unknown) => {
    if (thrown instanceof ConnectError)
      throw new UsageError(thrown.message, 'The watcher runs in a pod; the chart starts it with watcher.enabled.');
    throw thrown;
  });
  const log = createLog({ level: logLevel });
  process.on('uncaughtException', (fault) => {
    log.error('a fault of its own ends the watcher', {}, fault);
    log.flush();
    process.exit(EXIT.error);
  });
  const told = untilTold();
  const watcher = await startWatcher(connection, { host: '0.0.0.0', port }, log);
  await told;
  await watcher.stop();
  await connection.close();
}

/**
 * The `postern` program. Subcommands are loaded when they are called: `postern sidecar` must not pay for the
 * contract tools at start-up, nor the other way round.
 */
import { Command, CommanderError } from 'commander';
import { EXIT } from './exit.ts';
import { reportFailure } from './report-failure.ts';
import { VERSION } from './version.ts';

export async function runCli(argv: readonly string[]): Promise<void> {
  const plugin = isPlugin(argv[1]);
  const program = new Command(plugin ? 'kubectl postern' : 'postern');
  program
    .description('Agents get actions, not credentials - and answers that say what they leave out.')
    .version(VERSION)
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError('(try --help)')
    .addHelpText('after', plugin ? PLUGIN_EXAMPLES : EXAMPLES);
  if (plugin) await addPluginCommands(program);
  else await addCommands(program, argv[2]);
  try {
    await program.parseAsync([...argv]);
  } catch (thrown) {
    if (thrown instanceof CommanderError) process.exitCode = thrown.exitCode === 0 ? EXIT.complete : EXIT.usage;
    else process.exitCode = reportFailure(thrown);
  }
}

/** Only the wanted command's module is loaded; help and unknown words load them all, so that they are listed. */
async function addCommands(program: Command, wanted: string | undefined): Promise<void> {
  const loaders: Readonly<Record<string, () => Promise<Command>>> = {
    sidecar: async () => (await import('./sidecar.ts')).sidecarCommand(),
    actions: async () => (await import('./actions.ts')).actionsCommand(),
    call: async () => (await import('./call.ts')).callCommand(),
    operations: async () => (await import('./operations.ts')).operationsCommand(),
    operation: async () => (await import('./operations.ts')).operationCommand(),
    approvals: async () => (await import('./approvals.ts')).approvalsCommand(),
    approve: async () => (await import('./approve.ts')).approveCommand(),
    deny: async () => (await import('./approve.ts')).denyCommand(),
    resolve: async () => (await import('./resolve.ts')).resolveCommand(),
    authority: async () => (await import('./authority.ts')).authorityCommand(),
    contract: async () => (await import('./contract.ts')).contractCommand(),
    audit: async () => (await import('./audit.ts')).auditCommand(),
    operator: async () => (await import('./operator.ts')).operatorCommand(),
    watcher: async () => (await import('./watcher.ts')).watcherCommand(),
    cluster: async () => (await import('./cluster.ts')).clusterCommand(),
  };
  const only = wanted === undefined ? undefined : loaders[wanted];
  const chosen = only === undefined ? Object.values(loaders) : [only];
  for (const load of chosen) program.addCommand(inherit(await load()));
}

/** `kubectl` runs `kubectl-postern` from the PATH for `kubectl postern`. */
function isPlugin(path = ''): boolean {
  return /(^|[\\/])kubectl-postern(\.mjs|\.cjs)?$/.test(path);
}

async function addPluginCommands(program: Command): Promise<void> {
  const { clusterCommands } = await import('./cluster.ts');
  for (const command of clusterCommands()) program.addCommand(inherit(command));
}

/** exitOverride is not inherited by commands that are added whole. */
function inherit(command: Command): Command {
  command.exitOverride().showHelpAfterError('(try --help)');
  for (const sub of command.commands) inherit(sub);
  return command;
}

const EXAMPLES = `
Examples:
  postern sidecar --contracts contracts/ --credentials credentials/
  postern actions
  postern call list_stock '{"warehouse": "north"}'
  postern approvals
  postern approve op-5jd8s0k2m4n6p8q1r3t5v7w9xy
  postern contract lint contracts/*.yaml
  postern cluster sessions -n triage

Exit codes: 0 complete, 3 partial (the answer is not all), 4 a person must agree first, 5 sent and nobody knows
the outcome, 1 error, 2 wrong usage.`;

const PLUGIN_EXAMPLES = `
Examples:
  kubectl postern actions -A
  kubectl postern approvals -A
  kubectl postern explain-pod -n triage triage-bot-7d9f
  kubectl postern revoke -n triage --account triage-bot
  kubectl postern rotate -n triage github-triage

Each acts with the rights of your kubeconfig. Exit codes: 0 done, 3 not all of it yet, 1 error, 2 wrong usage.`;

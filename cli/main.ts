/**
 * The `postern` program. Subcommands are loaded when they are called: `postern sidecar` must not pay for the
 * contract tools at start-up, nor the other way round.
 */
import { Command, CommanderError } from 'commander';
import { EXIT } from './exit.ts';
import { reportFailure } from './report-failure.ts';
import { VERSION } from './version.ts';

export async function runCli(argv: readonly string[]): Promise<void> {
  const program = new Command('postern');
  program
    .description('Agents get actions, not credentials - and answers that say what they leave out.')
    .version(VERSION)
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError('(try --help)')
    .addHelpText('after', EXAMPLES);
  await addCommands(program, argv[2]);
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
    contract: async () => (await import('./contract.ts')).contractCommand(),
  };
  const only = wanted === undefined ? undefined : loaders[wanted];
  const chosen = only === undefined ? Object.values(loaders) : [only];
  for (const load of chosen) program.addCommand(inherit(await load()));
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
  postern contract lint contracts/*.yaml

Exit codes: 0 complete, 3 partial (the answer is not all), 1 error, 2 wrong usage.`;

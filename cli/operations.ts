/** `postern operations` and `postern operation`: what became of calls, also after their caller has gone. */
import { Command, Option } from 'commander';
import { operationDocument } from '#core/wire/operation-document.ts';
import { Operation_State } from '#proto/postern/v1/action_pb.ts';
import { awaitEnd } from './await-decision.ts';
import { commandLine } from './command-line.ts';
import { type ConnectionOptions, withAddress, withClient } from './connection.ts';
import { parseDuration } from './duration.ts';
import { EXIT } from './exit.ts';
import { renderOperation } from './render-operation.ts';
import { age, renderTable } from './table.ts';

interface Options extends ConnectionOptions {
  readonly output: 'text' | 'json';
}

interface OneOptions extends Options {
  readonly wait?: number | true;
}

const WAIT_MS_DEFAULT = 60_000;

export function operationsCommand(): Command {
  return withOutput(withAddress(new Command('operations')))
    .description('List the calls this sidecar remembers, newest first: what they were, and what became of them.')
    .addHelpText(
      'after',
      '\nExamples:\n  postern operations\n  postern operations -o json\n\nExit codes: 0 listed, 1 error, 2 wrong usage.',
    )
    .action(list);
}

export function operationCommand(): Command {
  return withOutput(withAddress(new Command('operation')))
    .description('Say what became of one operation: its state, each target of it, its card.')
    .argument('<operation>', 'its id, as every answer and "postern operations" give it')
    .option('--wait [duration]', 'wait for its end, at most so long (default: 60s)', parseDuration)
    .addHelpText('after', EXAMPLES)
    .action(show);
}

function withOutput(command: Command): Command {
  return command.addOption(new Option('-o, --output <format>', 'how to print').choices(['text', 'json']).default('text'));
}

async function list(options: Options): Promise<void> {
  await withClient(options, async (client) => {
    const { operations, dropped, keptMax, durable } = await client.listOperations({});
    const documents = operations.map(operationDocument);
    if (options.output === 'json') {
      write(JSON.stringify({ operations: documents, dropped, kept_max: keptMax, durable }, null, 2));
      return;
    }
    const now = Date.now();
    const rows = documents.map((each) => [
      each.operation_id,
      each.action,
      each.effect,
      each.state === 'unknown' ? 'UNKNOWN' : each.state,
      each.approval?.state === 'not_needed' ? undefined : each.approval?.state,
      age(each.started_at, now),
      each.error?.code,
    ]);
    write(renderTable(['OPERATION', 'ACTION', 'EFFECT', 'STATE', 'APPROVAL', 'AGE', 'ERROR'], rows));
    if (dropped > 0) write(`${dropped} older reads are not remembered any more (at most ${keptMax}).`);
    if (!durable) write('Nothing of this outlives the sidecar: it keeps no journal.');
  });
}

async function show(operationId: string, options: OneOptions): Promise<void> {
  await withClient(options, async (client) => {
    const waitMs = options.wait === undefined ? 0 : options.wait === true ? WAIT_MS_DEFAULT : options.wait;
    const operation = await awaitEnd(client, operationId, waitMs);
    const document = operationDocument(operation);
    write(options.output === 'json' ? JSON.stringify(document, null, 2) : renderOperation(document, commandLine(options)));
    process.exitCode = exitCodeOf(operation.state);
  });
}

function exitCodeOf(state: Operation_State): number {
  if (state === Operation_State.UNKNOWN) return EXIT.unknown;
  if (state === Operation_State.PLANNED || state === Operation_State.RUNNING) return EXIT.partial;
  return state === Operation_State.DONE ? EXIT.complete : EXIT.error;
}

function write(text: string): void {
  process.stdout.write(`${text}\n`);
}

const EXAMPLES = `
Examples:
  postern operation op_5jd8s0k2m4n6p8q1r3t5v7w9xy
  postern operation op_5jd8s0k2m4n6p8q1r3t5v7w9xy --wait 5m -o json

Exit codes: 0 done, 3 planned or running, 5 outcome unknown, 1 failed or an error, 2 wrong usage.`;

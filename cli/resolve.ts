/** `postern resolve`: a person says what became of an operation whose outcome nobody knows. */
import { Command } from 'commander';
import { visibleText } from '#core/encoding/visible-text.ts';
import { Fate } from '#proto/postern/approval/v1/approval_pb.ts';
import { type SocketOptions, withApprovals, withSocket } from './approval-connection.ts';
import { UsageError } from './report-failure.ts';
import { showCard } from './show-card.ts';

interface Options extends SocketOptions {
  readonly done?: boolean;
  readonly notDone?: boolean;
  readonly reason?: string;
}

export function resolveCommand(): Command {
  return withSocket(new Command('resolve'))
    .description('Say whether an operation of unknown outcome took effect. Equal calls are held back until then.')
    .argument('<operation>', 'its id, as "postern approvals" lists it')
    .option('--done', 'it took effect: the agent is told so, and nothing is sent again')
    .option('--not-done', 'it did not: an equal call may be made again')
    .option('--reason <text>', 'how you know; kept with the decision, and not shown to the agent')
    .addHelpText('after', EXAMPLES)
    .action(resolve);
}

async function resolve(operationId: string, options: Options): Promise<void> {
  if ((options.done === true) === (options.notDone === true))
    throw new UsageError('say either --done or --not-done', 'Look at the remote first: --not-done lets the effect be made once more.');
  await withApprovals(options, async (client) => {
    const { operations } = await client.listUnknown({});
    const found = operations.find((each) => each.operationId === operationId);
    if (found === undefined)
      throw new UsageError(
        `no operation ${visibleText(operationId)} of unknown outcome is here`,
        operations.length === 0 ? 'There is none.' : `These are: ${operations.map((each) => visibleText(each.operationId)).join(', ')}.`,
      );
    const fate = options.done === true ? Fate.DONE : Fate.NOT_DONE;
    const { resolvedBy } = await client.resolve({ operationId, fate, reason: options.reason ?? '' });
    if (found.card !== '') process.stdout.write(`${showCard(found.card)}\n\n`);
    process.stdout.write(`${fate === Fate.DONE ? 'Done' : 'Not done'}, says ${visibleText(resolvedBy)}.\n`);
  });
}

const EXAMPLES = `
Examples:
  postern resolve op_5jd8s0k2m4n6p8q1r3t5v7w9xy --done
  postern resolve op_5jd8s0k2m4n6p8q1r3t5v7w9xy --not-done --reason "the tracker has no such ticket"

Exit codes: 0 told, 1 error, 2 wrong usage.`;

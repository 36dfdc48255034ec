/** `postern approve` and `postern deny`: one question, one answer. A yes is about the card that was shown, by its digest. */
import { Command } from 'commander';
import { visibleText } from '#core/encoding/visible-text.ts';
import { Verdict } from '#proto/postern/approval/v1/approval_pb.ts';
import { type SocketOptions, withApprovals, withSocket } from './approval-connection.ts';
import { findQuestion } from './approvals.ts';
import { type ConfirmOptions, confirmCard } from './confirm-card.ts';
import { EXIT } from './exit.ts';
import { chosenCard, renderCard } from './question-cards.ts';
import { cardTitle } from './show-card.ts';

interface ApproveOptions extends SocketOptions, ConfirmOptions {
  readonly alternative?: string;
  readonly reason?: string;
}

export function approveCommand(): Command {
  return withSocket(new Command('approve'))
    .description('Show the card of a waiting call and let it run, once.')
    .argument('<name>', 'the question, as "postern approvals" lists it')
    .option('--alternative <name>', 'choose this other call of the card instead')
    .option('--reason <text>', 'why; recorded, and the agent reads it')
    .option('--card-digest <digest>', 'approve without being asked, but only the card of this digest')
    .option('-y, --yes', 'approve without being asked, whatever the card says')
    .addHelpText('after', APPROVE_EXAMPLES)
    .action(approve);
}

export function denyCommand(): Command {
  return withSocket(new Command('deny'))
    .description('Refuse a waiting call. It never runs, and an equal one is not asked again for ten minutes.')
    .argument('<name>', 'the question, as "postern approvals" lists it')
    .option('--reason <text>', 'why; recorded, and the agent reads it')
    .addHelpText('after', DENY_EXAMPLES)
    .action(deny);
}

async function approve(name: string, options: ApproveOptions): Promise<void> {
  await withApprovals(options, async (client) => {
    const chosen = chosenCard(await findQuestion(client, name), options.alternative);
    process.stdout.write(`${renderCard(chosen)}\n`);
    if (!(await confirmCard(chosen.cardDigest, options))) {
      process.stdout.write('\nNothing was decided.\n');
      process.exitCode = EXIT.error;
      return;
    }
    const { approver } = await client.decide({
      name,
      verdict: Verdict.APPROVED,
      cardDigest: chosen.cardDigest,
      alternative: options.alternative ?? '',
      reason: options.reason ?? '',
    });
    process.stdout.write(`\nApproved by ${visibleText(approver)}. It runs when the agent calls again.\n`);
  });
}

async function deny(name: string, options: SocketOptions & { readonly reason?: string }): Promise<void> {
  await withApprovals(options, async (client) => {
    const { card, cardDigest } = await findQuestion(client, name);
    const { approver } = await client.decide({ name, verdict: Verdict.DENIED, cardDigest, reason: options.reason ?? '' });
    process.stdout.write(`Denied by ${visibleText(approver)}: ${cardTitle(card)}\n`);
  });
}

const APPROVE_EXAMPLES = `
Examples:
  postern approve op-5jd8s0k2m4n6p8q1r3t5v7w9xy
  postern approve op-5jd8s0k2m4n6p8q1r3t5v7w9xy --alternative listed-only --reason "the list stopped early"
  postern approve op-5jd8s0k2m4n6p8q1r3t5v7w9xy --card-digest sha256:9f2c...

Without a terminal it decides nothing unless --card-digest or --yes is given.
Exit codes: 0 approved, 1 not approved or an error, 2 wrong usage.`;

const DENY_EXAMPLES = `
Examples:
  postern deny op-5jd8s0k2m4n6p8q1r3t5v7w9xy
  postern deny op-5jd8s0k2m4n6p8q1r3t5v7w9xy --reason "wrong environment"

Exit codes: 0 denied, 1 error, 2 wrong usage.`;

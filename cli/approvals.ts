/** `postern approvals`: what waits for a person at a sidecar without an operator. */
import { Command, Option } from 'commander';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { Question, UnknownOperation } from '#proto/postern/approval/v1/approval_pb.ts';
import { type ApprovalClient, type SocketOptions, withApprovals, withSocket } from './approval-connection.ts';
import { renderCards } from './question-cards.ts';
import { UsageError } from './report-failure.ts';
import { cardTitle } from './show-card.ts';
import { age, renderTable } from './table.ts';

interface Options extends SocketOptions {
  readonly watch?: boolean;
  readonly output: 'table' | 'json';
}

interface Waiting {
  readonly questions: readonly Question[];
  readonly unknown: readonly UnknownOperation[];
}

export function approvalsCommand(): Command {
  return withSocket(new Command('approvals'))
    .description('List what waits for a person: calls to approve or deny, and operations nobody knows the outcome of.')
    .argument('[name]', 'show the card of this question, and its alternatives')
    .option('-w, --watch', 'go on, and print again after every change, until Ctrl-C')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['table', 'json']).default('table'))
    .addHelpText('after', EXAMPLES)
    .action(show);
}

async function show(name: string | undefined, options: Options): Promise<void> {
  await withApprovals(options, async (client) => {
    if (options.watch === true) {
      if (name !== undefined) throw new UsageError('--watch shows all that waits', 'Leave out the name, or --watch.');
      for await (const waiting of client.watch({})) print(waiting, options);
      return;
    }
    if (name !== undefined) {
      printQuestion(await findQuestion(client, name), options);
      return;
    }
    const [{ questions }, { operations }] = await Promise.all([client.list({}), client.listUnknown({})]);
    print({ questions, unknown: operations }, options);
  });
}

/** One that waits. Throws UsageError. */
export async function findQuestion(client: ApprovalClient, name: string): Promise<Question> {
  const { questions } = await client.list({});
  const found = questions.find((question) => question.name === name);
  if (found !== undefined) return found;
  const meant = questions.find((question) => question.name === name.replace(/^op_/, 'op-'));
  if (meant !== undefined)
    throw new UsageError(
      `${visibleText(name)} is the operation; its question is ${visibleText(meant.name)}`,
      'Give the name with the hyphen.',
    );
  throw new UsageError(
    `no question ${visibleText(name)} waits here`,
    questions.length === 0
      ? 'Nothing waits: it was decided, it expired, or its call was changed.'
      : `These wait: ${questions.map((each) => visibleText(each.name)).join(', ')}.`,
  );
}

function printQuestion(question: Question, { output }: Options): void {
  write(output === 'json' ? JSON.stringify(questionDocument(question), null, 2) : renderCards(question.name, question));
}

function print({ questions, unknown }: Waiting, { output, watch }: Options): void {
  if (output === 'json') {
    const document = { questions: questions.map(questionDocument), unknown: unknown.map(unknownDocument) };
    // One line a change, for programs that read a stream.
    write(JSON.stringify(document, null, watch === true ? 0 : 2));
    return;
  }
  write(renderWaiting({ questions, unknown }, Date.now()));
}

export function renderWaiting({ questions, unknown }: Waiting, nowMs: number): string {
  if (questions.length === 0 && unknown.length === 0) return 'Nothing waits for a person.';
  const tables: string[] = [];
  if (questions.length > 0)
    tables.push(
      renderTable(
        ['APPROVAL', 'ACTION', 'ASKED', 'EXPIRES IN', 'CARD'],
        questions.map((each) => [
          each.name,
          each.action,
          age(dateOf(each.askedAtMs), nowMs),
          age(dateOf(each.expiresAtMs), nowMs),
          cardTitle(each.card),
        ]),
      ),
    );
  if (unknown.length > 0)
    tables.push(
      renderTable(
        ['OUTCOME UNKNOWN', 'ACTION', 'PLANNED', 'CARD'],
        unknown.map((each) => [
          each.operationId,
          each.action,
          age(dateOf(each.plannedAtMs), nowMs),
          each.card === '' ? `arguments ${each.argumentsDigest}` : cardTitle(each.card),
        ]),
      ),
    );
  return tables.join('\n\n');
}

function questionDocument(question: Question) {
  return {
    name: question.name,
    operation_id: question.operationId,
    action: question.action,
    card: question.card,
    card_digest: question.cardDigest,
    asked_at: dateOf(question.askedAtMs),
    expires_at: dateOf(question.expiresAtMs),
    alternatives: question.alternatives.map(({ name, card, cardDigest }) => ({ name, card, card_digest: cardDigest })),
  };
}

function unknownDocument(operation: UnknownOperation) {
  return {
    operation_id: operation.operationId,
    action: operation.action,
    card: operation.card,
    arguments_digest: operation.argumentsDigest,
    planned_at: dateOf(operation.plannedAtMs),
  };
}

function dateOf(ms: bigint): string {
  return new Date(Number(ms)).toISOString();
}

function write(text: string): void {
  process.stdout.write(`${text}\n`);
}

const EXAMPLES = `
Examples:
  postern approvals
  postern approvals op-5jd8s0k2m4n6p8q1r3t5v7w9xy
  postern approvals --watch --socket /run/postern/approvals.sock
  postern approvals -o json | jq '.questions[].name'

Exit codes: 0 done, 1 error, 2 wrong usage.`;

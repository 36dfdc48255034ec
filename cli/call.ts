/** `postern call`: one action, one answer; the exit code says whether it is all, or whether somebody has to do something first. */
import { Command, Option } from 'commander';
import { PosternError } from '#core/error/postern-error.ts';
import type { GrpcClient } from '#core/runtime/grpc-client.ts';
import { type AnswerDocument, answerDocument } from '#core/wire/answer-document.ts';
import { planDocument } from '#core/wire/operation-document.ts';
import { errorJson } from '#core/wire/status.ts';
import type { ActionService, ConfirmResponse, ExecuteResponse } from '#proto/postern/v1/action_pb.ts';
import { awaitDecision, waitsForPerson } from './await-decision.ts';
import { readArguments, readEvidence } from './call-request.ts';
import { commandLine, quoted } from './command-line.ts';
import { type ConnectionOptions, withAddress, withClient } from './connection.ts';
import { parseDuration } from './duration.ts';
import { EXIT } from './exit.ts';
import { exitCodeOf, explainRefusal } from './explain-refusal.ts';
import { progressLine } from './progress-line.ts';
import { renderPlan, renderSteps } from './render-operation.ts';
import { renderAnswer } from './render-result.ts';
import { reportFailure, UsageError } from './report-failure.ts';
import { showCard } from './show-card.ts';

interface Options extends ConnectionOptions {
  readonly cursor?: string;
  readonly onePage?: boolean;
  readonly deadline?: number;
  readonly evidence: readonly string[];
  readonly operation?: string;
  readonly prepare?: boolean;
  readonly confirm?: string;
  readonly wait?: number | true;
  readonly output: 'json' | 'text';
}

type Client = GrpcClient<typeof ActionService>;

export function callCommand(): Command {
  return withAddress(new Command('call'))
    .description('Call an action and print its answer: whether it is complete, why not, and how to go on.')
    .argument('[action]', 'name of the action, as "postern actions" lists it; left out with --confirm')
    .argument('[arguments]', 'arguments as a JSON object, or - to read them from standard input', '{}')
    .option('--cursor <cursor>', 'go on where an earlier answer stopped; the arguments must be the same')
    .option('--one-page', 'ask the remote for a single page')
    .option('--deadline <duration>', "give up after this time (500ms, 20s, 2m); may only shorten the contract's limit", parseDuration)
    .option('--evidence <file>', 'answer an effect rests on: a file of "-o json", or the token itself; may be repeated', gathered, [])
    .option('--operation <id>', 'mean the same operation as an earlier call; nothing is done twice')
    .option('--prepare', 'only make the plan and show its card; nothing is sent to the target')
    .option('--confirm <operation>', 'run exactly the plan of this operation, once')
    .option('--wait [duration]', 'where a person must agree, wait and then run it (default: as long as the question waits)', parseDuration)
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['text', 'json']).default('text'))
    .addHelpText('after', EXAMPLES)
    .action(call);
}

function gathered(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

async function call(action: string | undefined, written: string, options: Options): Promise<void> {
  checkUsage(action, options);
  try {
    if (options.prepare === true) await prepare(action ?? '', written, options);
    else await run(action ?? '', written, options);
  } catch (thrown) {
    if (!(thrown instanceof PosternError)) throw thrown;
    // As JSON on standard output, so that a program reads one place.
    if (options.output === 'json') process.stdout.write(`${JSON.stringify(errorJson(thrown), null, 2)}\n`);
    else {
      reportFailure(thrown);
      for (const line of explainRefusal(thrown, commandLine(options))) process.stderr.write(`${line}\n`);
    }
    process.exitCode = exitCodeOf(thrown);
  }
}

function checkUsage(action: string | undefined, { confirm, prepare, wait, operation, evidence, cursor }: Options): void {
  if (confirm === undefined) {
    if (action === undefined) throw new UsageError('no action is named', 'Name one of "postern actions", or give --confirm OPERATION.');
    if (prepare === true && wait !== undefined) throw new UsageError('--prepare waits for nobody', 'Leave out --wait.');
    return;
  }
  if (action !== undefined) throw new UsageError('--confirm runs a plan that has its action and arguments', 'Leave out the action.');
  if (prepare === true || operation !== undefined || evidence.length > 0 || cursor !== undefined)
    throw new UsageError('--confirm goes with --deadline, --wait and -o only', 'The plan has everything else already.');
}

async function prepare(action: string, written: string, options: Options): Promise<void> {
  const argumentsJson = await readArguments(written);
  const { evidence, operation, deadline } = options;
  const request = {
    action,
    argumentsJson,
    evidence: evidence.map(readEvidence),
    operationId: operation ?? '',
    deadlineMs: deadline ?? 0,
  };
  const plan = planDocument(await withClient(options, (client) => client.prepare(request)));
  const text = options.output === 'json' ? JSON.stringify(plan, null, 2) : renderPlan(plan, commandLine(options));
  process.stdout.write(`${text}\n`);
}

async function run(action: string, written: string, options: Options): Promise<void> {
  const argumentsJson = await readArguments(written);
  const evidence = options.evidence.map(readEvidence);
  const answer = await withClient(options, (client) =>
    withWait(client, options, () =>
      options.confirm === undefined
        ? answerOf(
            client.execute({
              action,
              argumentsJson,
              evidence,
              cursor: options.cursor ?? '',
              onePage: options.onePage === true,
              deadlineMs: options.deadline ?? 0,
              operationId: options.operation ?? '',
            }),
          )
        : confirm(client, options.confirm, options),
    ),
  );
  print(answer, action, written, options);
  process.exitCode = answer.completeness.complete ? EXIT.complete : EXIT.partial;
}

function confirm(client: Client, planId: string, { deadline }: Options): Promise<AnswerDocument> {
  return answerOf(client.confirm({ planId, deadlineMs: deadline ?? 0 }));
}

/** With --wait: an answer that somebody must agree first is waited out, and what was chosen is run. */
async function withWait(client: Client, options: Options, first: () => Promise<AnswerDocument>): Promise<AnswerDocument> {
  try {
    return await first();
  } catch (thrown) {
    if (options.wait === undefined || !(thrown instanceof PosternError) || thrown.reason !== 'APPROVAL_REQUIRED') throw thrown;
    const { operationId } = thrown;
    if (operationId === undefined) throw thrown;
    sayWaiting(thrown);
    const operation = await awaitDecision(client, operationId, options.wait === true ? Number.POSITIVE_INFINITY : options.wait);
    if (waitsForPerson(operation)) throw thrown;
    // Denied and expired are answered by the sidecar: its words, its code.
    return confirm(client, operation.approval?.chosenPlanId || operationId, options);
  }
}

/** On standard error: what is waited for must be seen while it waits, also where the answer goes to a program. */
function sayWaiting(error: PosternError): void {
  const card = error.operation?.card;
  process.stderr.write(card === undefined ? '' : `${showCard(card)}\n\n`);
  const [line = ''] = explainRefusal(error, (command) => command).filter((each) => each.includes('waits for a person'));
  process.stderr.write(`${line.trim().replace(/^tell your user: /, '')}\n`);
}

async function answerOf(events: AsyncIterable<ExecuteResponse | ConfirmResponse>): Promise<AnswerDocument> {
  const progress = progressLine();
  try {
    for await (const { event } of events) {
      if (event.case === 'progress') progress.show(event.value);
      if (event.case === 'result') return answerDocument(event.value);
    }
  } finally {
    progress.clear();
  }
  throw new PosternError('INTERNAL', 'The sidecar ended the call without an answer.');
}

function print(answer: AnswerDocument, action: string, written: string, options: Options): void {
  if (options.output === 'json') {
    process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
    return;
  }
  const line = commandLine(options);
  const repeat = (extra: string) => line(`call ${action} ${quoted(written)}`) + (extra === '' ? '' : ` ${extra}`);
  const steps = renderSteps(answer.steps ?? []);
  process.stdout.write(`${[renderAnswer(answer, repeat), ...steps].join('\n')}\n`);
}

const EXAMPLES = `
Examples:
  postern call list_stock '{"warehouse": "north"}'
  postern call list_movements '{"day": "2026-11-30"}' --one-page
  echo '{"warehouse": "north"}' | postern call list_stock - -o json | jq .completeness

Effects:
  postern call deploy_service '{"service": "api", "version": "2.14.3"}' --prepare
  postern call --confirm op_5jd8s0k2m4n6p8q1r3t5v7w9xy --wait
  postern call list_stale '{"days": 90}' -o json > stale.json
  postern call archive_items '{"ids": [7, 9], "days": 90}' --evidence stale.json

Exit codes: 0 complete, 3 partial (the answer is not all), 4 a person must agree first, 5 sent and nobody knows
the outcome, 1 error, 2 wrong usage.`;

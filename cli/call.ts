/** `postern call`: one action, one answer; the exit code says whether it is all. */
import { Command, Option } from 'commander';
import { visibleText } from '#core/encoding/visible-text.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { GrpcClient } from '#core/runtime/grpc-client.ts';
import { type AnswerDocument, answerDocument } from '#core/wire/answer-document.ts';
import { errorJson } from '#core/wire/status.ts';
import type { ActionService, Progress } from '#proto/postern/v1/action_pb.ts';
import { type ConnectionOptions, withAddress, withClient } from './connection.ts';
import { parseDuration } from './duration.ts';
import { EXIT } from './exit.ts';
import { renderAnswer } from './render-result.ts';
import { UsageError } from './report-failure.ts';

interface Options extends ConnectionOptions {
  readonly cursor?: string;
  readonly onePage?: boolean;
  readonly deadline?: number;
  readonly output: 'json' | 'text';
}

export function callCommand(): Command {
  return withAddress(new Command('call'))
    .description('Call an action and print its answer: whether it is complete, why not, and how to go on.')
    .argument('<action>', 'name of the action, as "postern actions" lists it')
    .argument('[arguments]', 'arguments as a JSON object, or - to read them from standard input', '{}')
    .option('--cursor <cursor>', 'go on where an earlier answer stopped; the arguments must be the same')
    .option('--one-page', 'ask the remote for a single page')
    .option('--deadline <duration>', "give up after this time (500ms, 20s, 2m); may only shorten the contract's limit", parseDuration)
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['text', 'json']).default('text'))
    .addHelpText('after', EXAMPLES)
    .action(call);
}

async function call(action: string, written: string, options: Options): Promise<void> {
  const argumentsJson = await readArguments(written);
  try {
    const answer = await withClient(options, (client) => execute(client, action, argumentsJson, options));
    print(answer, action, written, options);
    process.exitCode = answer.completeness.complete ? EXIT.complete : EXIT.partial;
  } catch (thrown) {
    if (options.output !== 'json' || !(thrown instanceof PosternError)) throw thrown;
    // On standard output, so that a program reads one place.
    process.stdout.write(`${JSON.stringify(errorJson(thrown), null, 2)}\n`);
    process.exitCode = EXIT.error;
  }
}

async function execute(
  client: GrpcClient<typeof ActionService>,
  action: string,
  argumentsJson: Uint8Array,
  options: Options,
): Promise<AnswerDocument> {
  const progress = progressLine();
  const request = {
    action,
    argumentsJson,
    cursor: options.cursor ?? '',
    onePage: options.onePage === true,
    deadlineMs: options.deadline ?? 0,
  };
  try {
    for await (const { event } of client.execute(request)) {
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
  // The same sidecar: a cursor opens nowhere else.
  const address = options.address === undefined ? [] : ['--address', options.address];
  const repeat = (extra: string) => ['postern call', action, quoted(written), ...address, ...(extra === '' ? [] : [extra])].join(' ');
  process.stdout.write(`${renderAnswer(answer, repeat)}\n`);
}

async function readArguments(written: string): Promise<Uint8Array> {
  if (written !== '-') return new TextEncoder().encode(written);
  if (process.stdin.isTTY)
    throw new UsageError(
      '"-" reads the arguments from standard input, which is a terminal',
      'Pipe a JSON object in, or write it as the argument.',
    );
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** One line on a terminal, rewritten in place; nothing when standard error is not one. */
function progressLine() {
  let shown = false;
  return {
    show({ pages, items, source, waitingMs }: Progress) {
      if (!process.stderr.isTTY) return;
      const where = source === '' ? '' : ` from ${visibleText(source)}`;
      const waiting = waitingMs > 0 ? `, waiting ${Math.ceil(waitingMs / 1000)} s` : '';
      process.stderr.write(`\r\u001b[K${items} items, ${pages} pages${where}${waiting} ...`);
      shown = true;
    },
    clear() {
      if (shown) process.stderr.write('\r\u001b[K');
    },
  };
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const EXAMPLES = `
Examples:
  postern call list_stock '{"warehouse": "north"}'
  postern call list_movements '{"day": "2026-11-30"}' --one-page
  echo '{"warehouse": "north"}' | postern call list_stock - -o json | jq .completeness

Exit codes: 0 complete, 3 partial (the answer is not all), 1 error, 2 wrong usage.`;

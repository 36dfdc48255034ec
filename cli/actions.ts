/** `postern actions`: what may be called here, as an agent sees it. */
import { Command, Option } from 'commander';
import { visibleText } from '#core/encoding/visible-text.ts';
import { type Action, ApprovalMode, Best, Effect, ResultShape_Kind, ResultShape_Presence } from '#proto/postern/v1/action_pb.ts';
import { Absence } from '#proto/postern/v1/completeness_pb.ts';
import { type ConnectionOptions, withAddress, withClient } from './connection.ts';

interface Options extends ConnectionOptions {
  readonly output: 'json' | 'text';
}

export function actionsCommand(): Command {
  return withAddress(new Command('actions'))
    .description('List the actions a sidecar serves, with their arguments and limits.')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['text', 'json']).default('text'))
    .addHelpText('after', '\nExamples:\n  postern actions\n  postern actions -o json --address 127.0.0.1:7717')
    .action(list);
}

async function list(options: Options): Promise<void> {
  await withClient(options, async (client) => {
    const { actions } = await client.listActions({});
    if (options.output === 'json') process.stdout.write(`${JSON.stringify(actions.map(asDocument), null, 2)}\n`);
    else process.stdout.write(`${actions.map(asText).join('\n\n') || 'No action is served here.'}\n`);
  });
}

function asDocument(action: Action) {
  const { pages, items, bytes, timeMs } = limitsOf(action);
  return {
    action: action.action,
    summary: action.summary,
    owner: action.owner,
    effect: nameIn(Effect, action.effect),
    ready: action.ready,
    ...(action.notReady === '' ? {} : { not_ready: action.notReady }),
    arguments: JSON.parse(action.argumentsSchemaJson),
    result: {
      as: action.result?.as,
      kind: nameIn(ResultShape_Kind, action.result?.kind ?? 0),
      fields: action.result?.fields.map(({ name, presence }) => ({ name, presence: nameIn(ResultShape_Presence, presence) })),
      all_fields: action.result?.allFields,
    },
    approval: nameIn(ApprovalMode, action.approval),
    best: nameIn(Best, action.best),
    absence: nameIn(Absence, action.absence),
    exclusions: action.exclusions,
    limits: { pages, items, bytes, time_ms: timeMs },
    ...(action.evidenceFrom === '' ? {} : { evidence_from: action.evidenceFrom }),
    revision: action.revision,
  };
}

function asText(action: Action): string {
  const lines = [`${action.action}  ${visibleText(action.summary)}`];
  lines.push(`  ${word(nameIn(Effect, action.effect))}, at best ${word(nameIn(Best, action.best))}, owner ${visibleText(action.owner)}`);
  for (const [name, schema] of Object.entries(propertiesOf(action.argumentsSchemaJson)))
    lines.push(`  ${visibleText(name)}: ${describe(schema)}`);
  const fields = action.result?.allFields === true ? 'all fields' : action.result?.fields.map(({ name }) => name).join(', ');
  lines.push(`  gives ${visibleText(action.result?.as ?? '')}: ${visibleText(fields ?? '')}`);
  const { pages, items, timeMs } = limitsOf(action);
  lines.push(`  in one answer at most ${pages} pages, ${items} items, ${timeMs / 1000} s`);
  for (const exclusion of action.exclusions) lines.push(`  never looks at: ${visibleText(exclusion)}`);
  if (action.approval === ApprovalMode.EACH_CALL) lines.push('  a person agrees to each call');
  if (action.approval === ApprovalMode.SESSION) lines.push('  a person agrees once for a range of calls');
  if (action.evidenceFrom !== '') lines.push(`  acts on what ${visibleText(action.evidenceFrom)} answers: give its evidence`);
  if (!action.ready) lines.push(`  not ready: ${visibleText(action.notReady)}`);
  return lines.join('\n');
}

function limitsOf({ limits }: Action) {
  return { pages: limits?.pages ?? 0, items: limits?.items ?? 0, bytes: Number(limits?.bytes ?? 0), timeMs: limits?.timeMs ?? 0 };
}

function propertiesOf(schemaJson: string): Record<string, Record<string, unknown>> {
  const schema: { properties?: Record<string, Record<string, unknown>> } = JSON.parse(schemaJson);
  return schema.properties ?? {};
}

function describe(schema: Record<string, unknown>): string {
  const parts = [String(schema.type ?? 'any')];
  if (Array.isArray(schema.enum)) parts.push(`one of ${schema.enum.join(', ')}`);
  if (typeof schema.format === 'string') parts.push(schema.format);
  if (typeof schema.description === 'string') parts.push(schema.description);
  return visibleText(parts.join('; '));
}

/** `SINGLE_PAGE` becomes `single page`. */
function word(name: string): string {
  return name.toLowerCase().replaceAll('_', ' ');
}

function nameIn(words: Readonly<Record<string, number>>, value: number): string {
  return Object.keys(words).find((name) => words[name] === value) ?? 'UNKNOWN';
}

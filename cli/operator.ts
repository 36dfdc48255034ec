/** `postern operator`: configures sidecars, judges contracts and pods. Everything it is told stands in POSTERN_* variables. */
import { Command } from 'commander';
import type { Setting } from '#core/runtime/settings.ts';
import { OPERATOR_SETTINGS, readOperatorSettings } from '#operator/settings.ts';
import { EXIT } from './exit.ts';
import { untilTold } from './until-told.ts';
import { VERSION } from './version.ts';

export function operatorCommand(): Command {
  return new Command('operator')
    .description('Configure the sidecars of a cluster; the chart runs it in pods of its own.')
    .addHelpText('after', settingsText())
    .action(serve);
}

async function serve(): Promise<void> {
  const { UsageError } = await import('./report-failure.ts');
  const read = readOperatorSettings(process.env);
  if (!read.ok)
    throw new UsageError(['the operator does not start:', ...read.problems].join('\n'), 'Set them as the chart does; --help lists them.');
  const told = untilTold();
  const { StartRefused, startInPod } = await import('#operator/main.ts');
  const operator = await startInPod(read.settings, VERSION, process.env).catch((thrown: unknown) => {
    if (!(thrown instanceof StartRefused)) throw thrown;
    throw new UsageError(`the operator does not start: ${thrown.message}`, thrown.cure);
  });
  // Node would print the fault's message, and that may quote what it failed on (LEAK-09).
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (fault: unknown) => {
      operator.crashed(fault);
      process.exit(EXIT.error);
    });
  }
  await told;
  await operator.stop();
}

/** The settings table: name, what it may be, the sentence. */
function settingsText(): string {
  const rows = Object.values(OPERATOR_SETTINGS).map(
    (setting: Setting) => `  ${setting.env}\n      ${setting.sentence} ${valuesOf(setting)}`,
  );
  return `\nSettings, from the environment:\n${rows.join('\n')}\n\nExit codes: 0 told to stop, 1 a fault of its own, 2 it cannot start.`;
}

function valuesOf(setting: Setting): string {
  const range =
    setting.type === 'choice'
      ? ` One of ${setting.choices.join(', ')}.`
      : setting.type === 'integer'
        ? ` ${setting.min} to ${setting.max}.`
        : '';
  return `${setting.fallback === undefined ? 'Required.' : `Default ${setting.fallback}.`}${range}`;
}

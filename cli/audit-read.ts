/** `postern audit read`: what stands in chains, for whoever has the key: each record, or put together as sessions or as operations. */
import { Command, InvalidArgumentError, Option } from 'commander';

export interface ReadOptions {
  readonly identity: readonly string[];
  readonly view?: 'sessions' | 'activity';
  /** Milliseconds since 1970. */
  readonly since?: number;
  readonly operation?: string;
  readonly action?: string;
  readonly output?: 'json' | 'table';
}

export function auditReadCommand(): Command {
  const collect = (value: string, before: readonly string[]) => [...before, value];
  return new Command('read')
    .description('Show the records of chains, checked while they are read: nothing behind a broken place is shown.')
    .argument('<path...>', 'segment files, folders, s3://bucket/prefix')
    .requiredOption('--identity <file>', 'key file of a recipient, as age-keygen writes it (repeatable)', collect, [])
    .addOption(
      new Option('--view <view>', 'put records together: one row a session, or one an operation').choices(['sessions', 'activity']),
    )
    .option('--since <time>', 'only since then: 2026-12-01T08:00:00Z, or 30m, 12h, 7d ago', parseSince)
    .option('--operation <id>', 'only of this operation')
    .option('--action <name>', 'only of this action')
    .addOption(
      new Option('-o, --output <format>', 'how to print (default: records as JSON lines, views as tables)').choices(['json', 'table']),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (paths: string[], options: ReadOptions) => {
      const { readPaths } = await import('./audit-read-paths.ts');
      await readPaths(paths, options);
    });
}

/** A time, or how long ago. */
function parseSince(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return Date.now() - Number(count) * (UNITS[unit] ?? 0);
  const ms = /^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw new InvalidArgumentError('Write a time in RFC 3339 (2026-12-01T08:00:00Z), a day, or 90s, 30m, 12h, 7d.');
  return ms;
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const EXAMPLES = `
Examples:
  postern audit read --identity auditor.key --view activity state/audit-archive
  postern audit read --identity auditor.key --view sessions --since 7d s3://audit/prod/triage
  postern audit read --identity auditor.key --operation op_... -o json state/audit

Exit codes: 0 read, 1 a chain is broken or cannot be opened, 2 wrong usage.`;

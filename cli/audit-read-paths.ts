/** What `postern audit read` does: one pass over each chain, records to standard output, what is wrong to standard error. */
import { type ActivityRow, ActivityView } from '#core/audit/activity-view.ts';
import { type ChainRecord, textIn } from '#core/audit/record-members.ts';
import { SessionView } from '#core/audit/session-view.ts';
import { limits } from '#core/bounds/limits.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import { chainsAt, noChain } from './audit-chains.ts';
import { openerOf } from './audit-identities.ts';
import { activityTable, jsonLine, recordJson, recordTable, sessionTable } from './audit-print.ts';
import type { ReadOptions } from './audit-read.ts';
import { type ReadChain, readChain } from './audit-records.ts';
import { EXIT } from './exit.ts';
import { UsageError } from './report-failure.ts';

export async function readPaths(paths: readonly string[], options: ReadOptions): Promise<void> {
  const opener = await openerOf(options.identity);
  await using found = await chainsAt(paths);
  if (found.chains.length === 0) throw noChain();
  if (found.chains.length > limits.auditViewChainsMax)
    throw new UsageError(
      `More than ${limits.auditViewChainsMax} chains are here.`,
      'Name a folder or prefix with fewer: one namespace, one day.',
    );
  const output = outputOf(options);
  const read: ReadChain[] = [];
  for (const source of found.chains) {
    const chain = await readChain(source, opener, { from: 1, onRecord: (record) => output.take(record) });
    output.endChain();
    tellOf(chain, visibleText(source.place));
    read.push(chain);
  }
  output.end();
  const good = read.every(({ verifier, opened, foreign }) => !verifier.isBroken && (opened > 0 || foreign === 0));
  process.exitCode = good ? EXIT.complete : EXIT.error;
}

/** What could not be shown, and why. */
function tellOf({ verifier, opened, foreign, odd, recipients }: ReadChain, place: string): void {
  const { origin, broken, lastSequence } = verifier.verdict();
  const name = origin ?? place;
  if (broken !== undefined)
    tell(
      `error: chain ${name} is broken at sequence ${broken.sequence}: ${broken.sentence}. Shown is what stands before it, to sequence ${lastSequence}; nothing behind it counts.`,
    );
  if (foreign > 0 && opened === 0) tell(`error: no identity opens chain ${name}. It is sealed to: ${recipients.join(', ')}`);
  else if (foreign > 0)
    tell(`warning: ${foreign} frames of chain ${name} are for other recipients and are not shown: ${recipients.join(', ')}`);
  if (odd > 0) tell(`warning: ${odd} frames or records of chain ${name} are not what a sidecar writes, and are not shown`);
}

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

interface Output {
  take(record: ChainRecord): void;
  endChain(): void;
  end(): void;
}

function outputOf(options: ReadOptions): Output {
  if (options.view === 'activity') return activityOutput(options);
  return options.view === 'sessions' ? sessionOutput(options) : recordOutput(options);
}

/** Text that a reader wants; a time that is none is shown rather than hidden. */
function isWanted({ record }: ChainRecord, { since, operation, action }: ReadOptions): boolean {
  if (operation !== undefined && textIn(record, 'operation_id') !== operation) return false;
  if (action !== undefined && textIn(record, 'action') !== action) return false;
  return isSince(textIn(record, 'at'), since);
}

function isSince(at: string | undefined, since: number | undefined): boolean {
  return since === undefined || !(Date.parse(at ?? '') < since);
}

function recordOutput(options: ReadOptions): Output {
  const rows = batches(options.output === 'table' ? recordTable : (records: readonly ChainRecord[]) => records.map(recordJson).join(''));
  return {
    take: (record) => {
      if (isWanted(record, options)) rows.add(record);
    },
    endChain: rows.flush,
    end: rows.flush,
  };
}

function activityOutput(options: ReadOptions): Output {
  const view = new ActivityView();
  const rows = batches(options.output === 'json' ? (all: readonly ActivityRow[]) => all.map(jsonLine).join('') : activityTable);
  const show = (all: readonly ActivityRow[]) => {
    for (const row of all) {
      const { operation, action, last_at } = row;
      if (options.operation !== undefined && operation !== options.operation) continue;
      if (options.action !== undefined && action !== options.action) continue;
      if (isSince(last_at, options.since)) rows.add(row);
    }
  };
  return {
    take: (record) => show(view.take(record)),
    endChain: () => show(view.rest()),
    end: rows.flush,
  };
}

function sessionOutput({ output, since, action, operation }: ReadOptions): Output {
  if (operation !== undefined) throw new UsageError('--operation says nothing about a session.', 'Leave it out, or use --view activity.');
  const view = new SessionView();
  return {
    take: (record) => view.take(record),
    endChain: () => {},
    end: () => {
      const rows = view
        .rows()
        .filter((row) => isSince(row.last_at, since) && (action === undefined || row.actions.some((one) => one.action === action)));
      if (rows.length > 0) process.stdout.write(output === 'json' ? rows.map(jsonLine).join('') : sessionTable(rows));
    },
  };
}

/** Printed in portions: a chain may be longer than memory, and a table needs its rows to find the widths. */
function batches<Item>(render: (items: readonly Item[]) => string): { readonly add: (item: Item) => void; readonly flush: () => void } {
  let held: Item[] = [];
  const flush = () => {
    if (held.length > 0) process.stdout.write(render(held));
    held = [];
  };
  return {
    add: (item) => {
      held.push(item);
      if (held.length >= BATCH_ROWS) flush();
    },
    flush,
  };
}

const BATCH_ROWS = 500;

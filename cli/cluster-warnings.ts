/**
 * `kubectl postern warnings`: what answers tell agents to distrust, by owner. Active ones as sidecars report them; declared ones with
 * their expiry, because past it a warning forbids evidence and its alert fires until someone renews or removes it.
 */

import { Command } from 'commander';
import { endOfDay } from '#core/bounds/calendar-day.ts';
import { limits } from '#core/bounds/limits.ts';
import type { ActionContract } from '#core/resource/gen/action-contract.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { type ClusterOptions, listAll, printRows, withCluster, withClusterFlags } from './cluster-connection.ts';
import { age, type Row } from './table.ts';

interface Options extends ClusterOptions {
  readonly owner?: string;
}

export interface WarningLine {
  readonly namespace: string;
  readonly contract: string;
  readonly code: string;
  readonly owner: string;
  readonly state: 'expired' | 'expiring' | 'active' | 'declared';
  readonly sessions: number;
  readonly firstSeen?: string;
  readonly lastSeen?: string;
  readonly expires?: string;
}

export function clusterWarningsCommand(): Command {
  return withClusterFlags(new Command('warnings'))
    .description('List the warnings contracts declare and answers carry: owner, age, expiry; the most urgent first.')
    .option('--owner <team>', 'only those of this owner')
    .addHelpText('after', '\nExamples:\n  kubectl postern warnings -n triage\n  kubectl postern warnings -A --owner search-team')
    .action((options: Options) =>
      withCluster(options, async (cluster) => {
        const nowMs = Date.now();
        const contracts = await listAll<ActionContract>(cluster, KINDS.contracts);
        const lines = warningLines(contracts, nowMs).filter(({ owner }) => options.owner === undefined || owner === options.owner);
        printRows(
          options,
          lines,
          COLUMNS,
          (line) => warningRow(line, nowMs),
          'No contract here declares a warning, and no answer carries one.',
        );
      }),
    );
}

const COLUMNS = ['STATE', 'CODE', 'OWNER', 'CONTRACT', 'SESSIONS', 'FIRST', 'LAST', 'EXPIRES'] as const;

function warningRow(line: WarningLine, nowMs: number): Row {
  const expires =
    line.expires === undefined
      ? undefined
      : `${lastDay(line.expires)} (${line.state === 'expired' ? '' : 'in '}${age(line.expires, nowMs)}${line.state === 'expired' ? ' ago' : ''})`;
  return [line.state, line.code, line.owner, line.contract, line.sessions, age(line.firstSeen, nowMs), age(line.lastSeen, nowMs), expires];
}

/** One line a contract, code and owner. */
export function warningLines(contracts: readonly ActionContract[], nowMs: number): readonly WarningLine[] {
  return contracts.flatMap((contract) => linesOf(contract, nowMs)).sort((a, b) => URGENCY[a.state] - URGENCY[b.state]);
}

const URGENCY = { expired: 0, expiring: 1, active: 2, declared: 3 } as const;

function linesOf({ metadata, spec, status }: ActionContract, nowMs: number): readonly WarningLine[] {
  const found = new Map<string, Omit<WarningLine, 'state'>>();
  const base = { namespace: metadata.namespace ?? '', contract: metadata.name };
  for (const { code, owner, expires } of spec.warnings ?? []) {
    found.set(`${code} ${owner}`, { ...base, code, owner, sessions: 0, ...endOf(expires) });
  }
  for (const { code, owner, sessions = 0, firstSeen, lastSeen, expires } of status?.warnings ?? []) {
    const declared = found.get(`${code} ${owner}`);
    const until = declared?.expires ?? expires;
    found.set(`${code} ${owner}`, {
      ...base,
      code,
      owner,
      sessions,
      ...(firstSeen === undefined ? {} : { firstSeen }),
      ...(lastSeen === undefined ? {} : { lastSeen }),
      ...(until === undefined ? {} : { expires: until }),
    });
  }
  return [...found.values()].map((line) => ({ ...line, state: stateOf(line, nowMs) }));
}

/** The day as contracts and answers say it, of the instant at which it is over. */
function lastDay(end: string): string {
  return new Date(Date.parse(end) - 1).toISOString().slice(0, 10);
}

function endOf(day: string): { expires?: string } {
  const over = endOfDay(day);
  return over === undefined ? {} : { expires: new Date(over).toISOString() };
}

function stateOf({ expires, lastSeen }: Omit<WarningLine, 'state'>, nowMs: number): WarningLine['state'] {
  const left = expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires) - nowMs;
  if (left <= 0) return 'expired';
  if (left <= limits.warningAheadMs) return 'expiring';
  return lastSeen === undefined ? 'declared' : 'active';
}

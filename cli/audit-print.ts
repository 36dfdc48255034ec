/** Records and views as a person or a program reads them. Text of a record never reaches a terminal as it is (AUD-22). */
import type { ActivityRow } from '#core/audit/activity-view.ts';
import { type ChainRecord, countIn, textIn } from '#core/audit/record-members.ts';
import type { ActionCounts, SessionRow } from '#core/audit/session-view.ts';
import { type Row, renderTable } from './table.ts';

/** One JSON object, in ASCII: controls, bidi and the like are escapes, and the value stays what it is. */
export function jsonLine(value: object): string {
  return `${JSON.stringify(value).replaceAll(/[^\n -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
}

export function recordJson({ origin, sequence, record }: ChainRecord): string {
  try {
    // Ours come first, and a member of a record cannot take their place.
    return jsonLine(Object.assign({ chain: origin, sequence }, record, { chain: origin, sequence }));
  } catch {
    return jsonLine({ chain: origin, sequence, unreadable: 'its members are nested too deep' });
  }
}

export function recordTable(records: readonly ChainRecord[]): string {
  return `${renderTable(RECORD_COLUMNS, records.map(recordRow))}\n`;
}

/** Portions of one table: what comes later has no header of its own, and stands under the first one. */
export function recordTablePortions(): (records: readonly ChainRecord[]) => string {
  let portions = 0;
  return (records) => {
    const table = `${renderTable(WIDE_RECORD_COLUMNS, records.map(recordRow))}\n`;
    portions += 1;
    return portions === 1 ? table : table.slice(table.indexOf('\n') + 1);
  };
}

export function activityTable(rows: readonly ActivityRow[]): string {
  return `${renderTable(ACTIVITY_COLUMNS, rows.map(activityRow))}\n`;
}

export function sessionTable(rows: readonly SessionRow[]): string {
  return `${renderTable(SESSION_COLUMNS, rows.map(sessionRow))}\n`;
}

const RECORD_COLUMNS = ['SEQUENCE', 'AT', 'RECORD', 'ACTION', 'OPERATION', 'SAYS'] as const;
/** As wide as what mostly stands in them. */
const WIDE_RECORD_COLUMNS = RECORD_COLUMNS.map((column, index) => column.padEnd([10, 24, 8, 24, 29][index] ?? 0));
const ACTIVITY_COLUMNS = ['BEGAN', 'ACTION', 'EFFECT', 'OUTCOME', 'APPROVAL', 'BY', 'RESULT', 'TOOK', 'OPERATION'] as const;
const SESSION_COLUMNS = ['SESSION', 'ACCOUNT', 'STARTED', 'ENDED', 'STATE', 'INCOMPLETE', 'WARNED', 'APPROVALS', 'ACTIONS'] as const;

function recordRow({ sequence, record }: ChainRecord): Row {
  const says = ['event', 'status', 'code', 'method', 'state', 'because', 'approver'].flatMap((name) => textIn(record, name) ?? []);
  return [sequence, textIn(record, 'at'), record.record, textIn(record, 'action'), textIn(record, 'operation_id'), says.join(' ')];
}

function activityRow(row: ActivityRow): Row {
  const took = row.duration_ms === undefined ? undefined : `${row.duration_ms}ms`;
  return [row.began_at, row.action, row.effect, outcomeText(row), row.decision, row.approver, resultText(row), took, row.operation];
}

function outcomeText({ outcome, complete, replays }: ActivityRow): string {
  const what = outcome === 'unsettled' ? 'NO OUTCOME' : outcome;
  return `${what}${complete === false && outcome !== 'partial' ? ' incomplete' : ''}${replays > 0 ? ` (asked again ${replays})` : ''}`;
}

function resultText({ code, rows, incomplete_reasons, warnings, reason, found, by }: ActivityRow): string {
  const found_ = found === undefined ? [] : [`found by ${found}${by === undefined ? '' : ` ${by}`}`];
  const counted = rows === undefined ? [] : [`${rows} rows`];
  const because = reason === undefined ? [] : [`"${reason}"`];
  return [
    ...(code === undefined ? [] : [code]),
    ...counted,
    ...(incomplete_reasons ?? []),
    ...(warnings ?? []),
    ...found_,
    ...because,
  ].join(', ');
}

function sessionRow(row: SessionRow): Row {
  const { asked, approved, denied } = row.approvals;
  const ended = row.ended_at ?? `no end, last ${row.last_at}`;
  const approvals = asked + approved + denied === 0 ? undefined : `${asked} asked, ${approved} yes, ${denied} no`;
  const state = row.states.at(-1);
  const because = state?.because === undefined ? '' : ` (${state.because})`;
  return [
    row.session ?? row.chain.replace('postern.dev/audit/', ''),
    row.service_account,
    `${row.started_at ?? '-'}${row.starts > 1 ? ` (${row.starts} starts)` : ''}`,
    ended,
    row.state === undefined ? undefined : `${row.state}${because}`,
    row.incomplete_reads,
    row.warned_reads,
    approvals,
    row.actions.map(actionText).join('; '),
  ];
}

function actionText(counts: ActionCounts): string {
  const parts = COUNTED.flatMap((name) => ((countIn(counts, name) ?? 0) > 0 ? [`${counts[name]} ${name}`] : []));
  return `${counts.action}: ${parts.join(' ')}`;
}

const COUNTED = ['sent', 'ok', 'partial', 'failed', 'unknown', 'refused', 'replayed'] as const;

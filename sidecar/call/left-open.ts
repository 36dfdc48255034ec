/**
 * What a start adds to the chain of the audit: a process that died left intents without an end, and an auditor must not wait for them
 * (failure case AUD-14). Heads in the chain say which they are; what became of an effect the journal knows, and of a read nobody.
 */
import type { FoundOperation } from '#sidecar/audit/chain-ledger.ts';
import type { AuditRecorder } from '#sidecar/audit/recorder.ts';
import type { Entry } from '#sidecar/journal/entry.ts';
import type { Journal } from '#sidecar/journal/journal.ts';
import { foundRecord } from './call-records.ts';
import type { FoundOutcome } from './recorder.ts';

export interface LeftOpenMeans {
  readonly audit: Pick<AuditRecorder, 'tell'>;
  /** Undefined where there are no effects. */
  readonly journal: Pick<Journal, 'get' | 'list'> | undefined;
}

/** `found`: what the chain had when it was opened. An operation that is under way again by now tells its end itself. */
export function tellLeftOpen(found: ReadonlyMap<string, FoundOperation>, { audit, journal }: LeftOpenMeans): void {
  for (const [operationId, state] of found) {
    if (state === 'ended') continue;
    const entry = journal?.get(operationId);
    if (entry === undefined)
      audit.tell({ record: 'outcome', operation_id: operationId, status: 'unknown', code: 'OUTCOME_UNKNOWN', found: 'start' });
    else if (entry.phase !== 'running') audit.tell(foundRecord(entry.record, { verdict: verdictOf(entry), by: 'start' }));
  }
  // Its intent may have been shipped long ago, and given back.
  for (const entry of journal?.list() ?? []) {
    const { phase, interrupted, resolution, record } = entry;
    if (interrupted !== true || resolution !== undefined || phase === 'planned' || found.has(record.operationId)) continue;
    audit.tell(foundRecord(record, { verdict: verdictOf(entry), by: 'start' }));
  }
}

/** One that is planned died before its first request. A read that died with its process changed nothing. */
function verdictOf({ phase, record }: Entry): FoundOutcome['verdict'] {
  if (phase === 'done') return 'done';
  return phase === 'unknown' && record.effect !== 'Read' ? 'unknown' : 'notDone';
}

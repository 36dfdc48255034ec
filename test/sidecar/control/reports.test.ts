import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { CredentialState } from '#proto/postern/control/v1/control_pb.ts';
import { type ReportedFile, type ReportedWarning, Reports } from '#sidecar/control/reports.ts';
import type { ControlMessage } from '#sidecar/control/stream.ts';

const FILE: ReportedFile = { binding: 'reader', key: 'token', state: CredentialState.PRESENT, digest: 'abcdef01', sinceMs: 1n };
const WARNING: ReportedWarning = { action: 'list', code: 'STALE_INDEX', owner: 'search', firstSeenMs: 1n, lastSeenMs: 1n, expiresMs: 0n };

function rig() {
  let nowMs = 0;
  const sent: ControlMessage[] = [];
  const seen = { files: [FILE] as ReportedFile[], warnings: [] as ReportedWarning[] };
  const reports = new Reports({
    clock: { wallMs: () => nowMs, monotonicMs: () => nowMs, sleep: () => Promise.resolve(), alarm: () => () => {} },
    credentials: () => seen.files,
    warnings: () => seen.warnings,
    send: (message) => sent.push(message),
  });
  const after = (ms: number) => {
    nowMs += ms;
    sent.length = 0;
    reports.look();
    return sent.map(({ case: kind }) => kind);
  };
  return { reports, seen, sent, after };
}

test('reports: everything is said after a welcome, then only what changed', () => {
  const { reports, seen, sent, after } = rig();
  reports.begin();
  assert.deepEqual(
    sent.map(({ case: kind }) => kind),
    ['credentials', 'warnings'],
  );
  assert.deepEqual(after(limits.credentialReportMs), []);
  seen.files = [{ ...FILE, digest: 'abcdef02' }];
  assert.deepEqual(after(limits.credentialReportMs), ['credentials']);
  sent.length = 0;
  reports.begin();
  assert.equal(sent.length, 2);
});

test('reports: warnings go up at most once a minute, and for a newer sight alone at most every ten', () => {
  const { reports, seen, after } = rig();
  reports.begin();
  seen.warnings = [WARNING];
  assert.deepEqual(after(limits.credentialReportMs), ['warnings'], 'the first one does not wait for the minute of an empty report');
  seen.warnings = [{ ...WARNING, code: 'OTHER' }];
  assert.deepEqual(after(30_000), []);
  assert.deepEqual(after(30_000), ['warnings']);
  seen.warnings = [{ ...WARNING, code: 'OTHER', lastSeenMs: 2n }];
  assert.deepEqual(after(limits.warningReportMs), []);
  assert.deepEqual(after(limits.warningRefreshMs), ['warnings']);
  seen.warnings = [];
  assert.deepEqual(after(limits.warningReportMs), ['warnings']);
  assert.deepEqual(after(limits.warningRefreshMs), []);
});

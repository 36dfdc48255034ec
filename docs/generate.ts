/**
 * The reference pages that follow a catalogue: docs/errors.md, docs/contract-problems.md, docs/metrics.md, and docs/attacks.md, whose catalogue are the tests.
 * `node docs/generate.ts` writes them, `--check` fails when one differs from its catalogue.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROBLEM_CODES } from '#core/contract/problem-codes.ts';
import { GRPC, INCOMPLETE_REASONS, REASONS, WARNING_CODES } from '#core/error/reasons.ts';
import { METRICS } from '#core/runtime/metric-catalogue.ts';

const REASON_MEANINGS: Readonly<Record<(typeof INCOMPLETE_REASONS)[number], string>> = {
  MORE_PAGES_AVAILABLE: 'The list goes on where this answer ends.',
  RESULT_LIMIT_REACHED: "A limit - the remote's, or one of Postern's own, then named in `limit` - ended the walk.",
  TIME_BUDGET_EXCEEDED: 'The time was over before the walk was, here or at the remote.',
  SOURCE_UNAVAILABLE: 'A source, or a part of one, did not answer.',
  VISIBILITY_RESTRICTED: 'The credential may not see everything that was asked for.',
  REMOTE_RATE_LIMITED: 'The remote asked to wait in mid-walk.',
  CURSOR_EXPIRED: "The remote's own cursor expired in mid-walk; both attempts must not be merged.",
  SNAPSHOT_CHANGED: 'The collection changed under the walk.',
  COMPLETENESS_UNPROVEN:
    'Nothing proves that this is all: a signal is missing, two disagree, the body was cut, or pages have no common basis.',
};

const WARNING_MEANINGS: Readonly<Record<(typeof WARNING_CODES)[number], string>> = {
  STALE_INDEX: 'The data is older than the contract allows; forbids evidence.',
  PARTIAL_FIELD_SET: 'Some fields are not there.',
  DEFAULT_SCOPE_APPLIED: 'The remote narrowed the question by a default.',
  DEPRECATED_FIELD: 'A field will go away.',
  VALUE_NORMALIZED: 'A value was changed to be representable: integers beyond 2^53 arrive as text.',
  ORDER_REPLACED: 'The order is not the one asked for.',
  UPSTREAM_NOTICE: 'The remote says something worth reading.',
  CREDENTIAL_REFLECTED: 'The remote sent a credential back; it was masked.',
};

function errorsPage(): string {
  const grpcName = (code: number) => Object.entries(GRPC).find(([, value]) => value === code)?.[0] ?? 'UNKNOWN';
  const rows = Object.entries(REASONS).map(
    ([code, { grpc, retryable, when }]) => `| \`${code}\` | ${grpcName(grpc)} | ${retryable ? 'yes' : 'no'} | ${when} |`,
  );
  return page('Errors, reasons and warnings', [
    'An error is `google.rpc.Status` with ErrorInfo (reason, domain `postern.dev`), RequestInfo, BadRequest for arguments, RetryInfo where a wait is known, and the completeness envelope where a read had begun. `retryable`: the same call may succeed later, at once or after the named condition has changed.',
    '## Error codes',
    ['| code | gRPC status | retryable | when |', '|---|---|---|---|', ...rows].join('\n'),
    '## Why an answer is not complete',
    ['| reason | meaning |', '|---|---|', ...INCOMPLETE_REASONS.map((code) => `| \`${code}\` | ${REASON_MEANINGS[code]} |`)].join('\n'),
    '## Warnings',
    'A warning never makes an answer incomplete. Each has an owner and an expiry in its contract, but the three the sidecar raises by itself where the contract declares none of that code: PARTIAL_FIELD_SET, VALUE_NORMALIZED and CREDENTIAL_REFLECTED.',
    ['| code | meaning |', '|---|---|', ...WARNING_CODES.map((code) => `| \`${code}\` | ${WARNING_MEANINGS[code]} |`)].join('\n'),
  ]);
}

function problemsPage(): string {
  const rows = Object.entries(PROBLEM_CODES)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, { severity, what, cure }]) => `| \`${code}\` | ${severity} | ${cell(what)} | ${cell(cure)} |`);
  return page('What is wrong with a contract, a binding or a preset', [
    'What `postern contract lint` and the admission of a cluster say, by code. An error refuses the object; a warning is shown and lives on. Each finding also names the file, the line and the path, and the cure where the place knows a better one.',
    ['| code | severity | meaning | cure |', '|---|---|---|---|', ...rows].join('\n'),
  ]);
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

function metricsPage(): string {
  const rows = Object.entries(METRICS).map(
    ([name, { type, help, labels }]) => `| \`postern_${name}\` | ${type} | ${labels.join(', ') || '-'} | ${help} |`,
  );
  return page('Metrics', [
    'On the admin port, `/metrics`. Label values come from closed sets or from names in contracts and bindings; never from arguments, ids or answers.',
    ['| metric | type | labels | meaning |', '|---|---|---|---|', ...rows].join('\n'),
  ]);
}

function attacksPage(): string {
  const table = (file: string) =>
    ['| attempt | stopped by | failure cases |', '|---|---|---|', ...attempts(file).map((cells) => `| ${cells.join(' | ')} |`)].join('\n');
  return page('Attacks that are tried', [
    'Each row is a test on a real node: kubelet, containerd and API server, Postern installed by its chart. A test that fails is a row that does not hold.',
    '## The agent: a shell in its container, as root, and the token of its ServiceAccount',
    table('agent-attacks'),
    '## Whoever writes pods: an account that may do everything with pods and workloads of the namespace',
    table('author-attacks'),
    'Tenants who bind a Secret they cannot read, write a contract on a binding they may not use, or make a session by hand: `test/operator/guard/grant-policies.test.ts` and `record-policies.test.ts`.',
    'Approvals: an agent that approves itself, a pod made anew, a sidecar killed between send and outcome, an operator that is away: `test/cluster/approval.test.ts`. A sidecar that was taken over, a failing API server, overlapping leaders: `hijacked-sidecar`, `api-faults` and `two-leaders` in `test/operator/approval`.',
  ]);
}

/** What a `${...}` in a title stands for. */
const SEVERAL: Readonly<Record<string, string>> = {
  kind: 'each kind there is',
  list: 'each list of containers',
  host: 'metadata or loopback',
  field: 'hostNetwork, hostPID, hostPath or shareProcessNamespace',
};

/** `attempt('X is stopped by Y (ID)'` */
function attempts(file: string): readonly (readonly string[])[] {
  const source = readFileSync(join(import.meta.dirname, '..', 'test', 'cluster', `${file}.test.ts`), 'utf8');
  return [...source.matchAll(/await attempt\(\s*(['`])([^\n]*?)\1,/g)].flatMap(([, , title = '']) => {
    const [, attempt, by, ids = '-'] =
      /^(.*?)(?: (?:is|are|and its pods are) stopped by | gets no credential, by )(.*?)(?: \(([^)]*)\))?$/.exec(title) ?? [];
    return attempt === undefined || by === undefined
      ? []
      : [[attempt.replace(/,$/, '').replace(/\$\{(\w+)\}/g, (_, name) => SEVERAL[name] ?? name), by.replace(/\$\{\w+\}/g, ''), ids]];
  });
}

function page(title: string, parts: readonly string[]): string {
  return `# ${title}\n\nGenerated from its catalogue by \`npm run generate\`. Do not edit.\n\n${parts.join('\n\n')}\n`;
}

const pages: Readonly<Record<string, string>> = {
  'errors.md': errorsPage(),
  'contract-problems.md': problemsPage(),
  'metrics.md': metricsPage(),
  'attacks.md': attacksPage(),
};
const check = process.argv.includes('--check');
for (const [name, text] of Object.entries(pages)) {
  const path = join(import.meta.dirname, name);
  if (!check) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(`docs/${name} is not what its catalogue gives; run "npm run generate" and commit the result.`);
    process.exitCode = 1;
  }
}

/** Calls with fixed answers, for tests of the gRPC surface: what is encoded must be what a client reads. */
import type { Completeness } from '#core/completeness/envelope.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { ActionDescription, CallContext, Calls, ExecuteCall, ExecuteResult, OperationView, PlanView } from '#sidecar/call/calls.ts';

/** Every optional member is there, and no two values are alike. */
export const FULL_COMPLETENESS: Completeness = {
  complete: false,
  truncated: true,
  incomplete_reasons: [
    {
      code: 'RESULT_LIMIT_REACHED',
      message: 'The limit of 10 pages was reached.',
      origin: 'sidecar',
      limit: { pages: 10, bytes: 8_388_608 },
      rule: 'page-limit',
    },
    { code: 'SOURCE_UNAVAILABLE', message: 'The source eu-west did not answer.', origin: 'upstream', sources: ['eu-west'] },
  ],
  continuation: {
    kind: 'next_cursor',
    cursor: 'c1',
    expires_at: '2026-01-01T00:05:00.000Z',
    snapshot: 'frozen',
    invalidated_by: ['arguments', 'revision', 'session'],
  },
  scope: {
    resource: 'open issues of storefront',
    visibility: 'issues the triage app may read',
    exclusions: ['pull requests', 'Grüße 世界'],
    absence: 'provable',
    snapshot: 'rv 42',
    consistency: 'checked',
  },
  page: {
    returned: 500,
    requested_size: 100,
    ordering: 'number ascending',
    walk: { returned: 1500, calls: 3, pages: 15 },
    at_least: 1501,
    about: 5_000_000_000,
  },
  sources: [
    { name: 'us-east', state: 'complete', returned: 499, snapshot: 'rv 41' },
    { name: 'eu-west', state: 'unavailable', returned: 1 },
  ],
  budget: { deadline_ms: 20_000, spent_ms: 8120, waited_ms: 17 },
};

export const FULL_RESULT: ExecuteResult = {
  requestId: 'req_1',
  operationId: `op_${'a'.repeat(26)}`,
  action: 'list_open_issues',
  revision: `sha256:${'0'.repeat(64)}`,
  envelope: {
    status: 'partial',
    completeness: FULL_COMPLETENESS,
    warnings: [
      {
        code: 'STALE_INDEX',
        name: 'index-lag',
        message: 'The index lags.',
        source: 'us-east',
        observed_at: '2026-01-01T00:00:00.000Z',
        observed_age_ms: 61_000,
        fields: ['title'],
        detail: 'rebuilt at midnight',
        owner: 'search-team',
        expires_at: '2026-06-30',
      },
    ],
    omitted_fields: [{ path: '/email', cause: 'NOT_PERMITTED' }],
  },
  dataJson: Buffer.from('{"issues":[{"number":7,"title":"Größe"}]}'),
  evidence: 'e1',
};

export const ACTION: ActionDescription = {
  action: 'list_open_issues',
  summary: 'List open issues of {repository}',
  owner: 'triage-team',
  effect: 'Read',
  ready: true,
  notReady: '',
  argumentsSchema: { type: 'object', additionalProperties: false, properties: { repository: { type: 'string', enum: ['storefront'] } } },
  result: { as: 'issues', shape: 'items', fields: [{ name: 'number', presence: 'Required' }], allFields: false },
  approval: 'None',
  best: 'Complete',
  absence: 'provable',
  exclusions: ['pull requests'],
  limits: { pages: 10, items: 500, bytes: 8_388_608, timeMs: 20_000 },
  evidenceFrom: '',
  revision: `sha256:${'0'.repeat(64)}`,
};

export const PLAN: PlanView = {
  planId: `op_${'b'.repeat(26)}`,
  card: 'Restart api in production',
  cardDigest: `sha256:${'c'.repeat(64)}`,
  expiresAtMs: 60_000,
  approval: { state: 'waiting', name: `op-${'b'.repeat(26)}`, expiresAtMs: 60_000 },
  planDigest: `sha256:${'d'.repeat(64)}`,
  alternatives: [],
  summary: 'Restart api in production',
};

export const OPERATION: OperationView = {
  operationId: `op_${'a'.repeat(26)}`,
  requestId: 'req_1',
  action: 'list_open_issues',
  state: 'failed',
  startedAtMs: 0,
  finishedAtMs: 1500,
  error: { reason: 'REMOTE_UNAVAILABLE', message: 'The remote did not answer.' },
};

export type Execute = (call: ExecuteCall, context: CallContext) => Promise<ExecuteResult>;

export function fixedCalls(execute: Execute = async () => FULL_RESULT): Calls {
  return {
    list: () => [ACTION],
    execute,
    async getOperation(operationId) {
      if (operationId !== OPERATION.operationId) throw new PosternError('ACTION_UNKNOWN', 'No such operation.');
      return OPERATION;
    },
    async prepare() {
      return PLAN;
    },
    confirm: async ({ planId, ...call }, context) =>
      execute({ action: planId, argumentsJson: new Uint8Array(), onePage: false, ...call }, context),
    listOperations: () => ({ operations: [OPERATION], dropped: 3, keptMax: 1000, durable: true }),
  };
}

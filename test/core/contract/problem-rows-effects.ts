/** One broken contract per problem of effects, alone and beside the reads it names. */
import type { Row } from './problem-rows.ts';
import { type Around, type Changes, changed, objectOf, sampleBinding } from './sample-objects.ts';

const WRITE: Changes = {
  effect: 'Write',
  'http.method': 'POST',
  'http.query': {},
  result: { object: '/', fields: [{ name: 'id' }] },
  completeness: {},
  warnings: [],
};
const ASKED: Changes = { ...WRITE, approval: { mode: 'EachCall', expiresAfter: '10m' } };
/** A write that one yes may cover several times. */
const RANGE: Changes = { ...WRITE, idempotency: { mode: 'Natural' }, approval: { mode: 'Session', vary: [] } };
const EACH_OF = (list: Record<string, boolean | number>): Changes => ({
  'arguments.properties.tags': { type: 'array', maxItems: 3, items: { type: 'string', maxLength: 9 }, ...list },
  forEach: { argument: '/tags', order: 'Sequential', onFailure: 'Stop' },
});

export const EFFECT_ROWS: readonly Row[] = [
  ['effect-block', 'spec.forEach', { forEach: { argument: '/tags', order: 'Sequential', onFailure: 'Stop' } }],
  [
    'effect-block',
    'spec.completeness.paging',
    { ...WRITE, completeness: { paging: { mode: 'SingleResponse' } }, approval: { mode: 'EachCall' } },
  ],
  ['effect-approval', 'spec.approval', { ...WRITE }],
  ['effect-session', 'spec.approval.mode', { ...WRITE, approval: { mode: 'Session' } }],
  [
    'effect-because',
    'spec.approval.mode',
    { ...WRITE, effect: 'Destructive', idempotency: { mode: 'Natural' }, approval: { mode: 'None' } },
  ],
  [
    'effect-because',
    'spec.result.allFields.because',
    { 'result.fields': undefined, 'result.allFields': { because: ' ' }, 'completeness.notices.0.fields': undefined },
  ],
  [
    'idempotency-key',
    'spec.idempotency',
    { ...WRITE, approval: { mode: 'EachCall' }, idempotency: { mode: 'Key', header: 'idempotency-key' } },
  ],
  [
    'header-reserved',
    'spec.idempotency.header',
    { ...WRITE, approval: { mode: 'EachCall' }, idempotency: { mode: 'Key', header: 'host', ttl: '1h' } },
  ],
  [
    'idempotency-ttl',
    'spec.idempotency.ttl',
    { ...WRITE, idempotency: { mode: 'Key', header: 'idempotency-key', ttl: '5s' } },
    'a key nobody keeps',
  ],
  ['idempotency-ttl', 'spec.idempotency.ttl', { ...WRITE, idempotency: { mode: 'Natural', ttl: '1h' } }, 'a ttl of no key'],
  [
    'idempotency-key',
    'spec.idempotency.form',
    { ...WRITE, idempotency: { mode: 'Key', form: 'key', ttl: '1h' } },
    'a form field of a request without a form',
  ],
  [
    'idempotency-key',
    'spec.idempotency.body',
    { ...WRITE, 'http.body': { json: { a: 1 } }, idempotency: { mode: 'Key', body: '/a/key', ttl: '1h' } },
    'a key in a number',
  ],
  [
    'duplicate-name',
    'spec.idempotency.body',
    { ...WRITE, 'http.body': { json: { key: 1 } }, idempotency: { mode: 'Key', body: '/key', ttl: '1h' } },
    'a member that is there',
  ],
  [
    'duplicate-name',
    'spec.idempotency.header',
    { ...WRITE, 'http.headers.x-key': 'a', idempotency: { mode: 'Key', header: 'X-Key', ttl: '1h' } },
    'a header that is there',
  ],
  ['slot-unknown-name', 'spec.http.headers.x-key', { ...WRITE, 'http.headers.x-key': '$(operation.key)' }, 'a key written by hand'],
  [
    'slot-root-here',
    'spec.prepare.arguments.id',
    { ...WRITE, prepare: { contract: 'r', arguments: { id: '$(each)' }, fields: [] } },
    'an element before there are any',
  ],
  ['approval-expiry', 'spec.approval.expiresAfter', { ...WRITE, approval: { mode: 'EachCall', expiresAfter: '10s' } }],
  ['approval-expiry', 'spec.approval.expiresAfter', { ...WRITE, approval: { mode: 'EachCall', expiresAfter: '48h' } }],
  ['approval-reason', 'spec.approval.reason', { ...WRITE, approval: { mode: 'EachCall', reason: '/count' } }],
  ['approval-range', 'spec.approval.vary', { ...WRITE, approval: { mode: 'EachCall', vary: ['/note'] } }],
  ['approval-range', 'spec.approval.calls', { ...WRITE, approval: { mode: 'EachCall', calls: 3 } }],
  ['approval-vary', 'spec.approval.vary[0]', { ...RANGE, 'approval.vary': ['/shop'] }, 'a label that decides the path'],
  [
    'approval-vary',
    'spec.approval.vary[0]',
    { ...RANGE, 'http.query': { day: '$(args.day)' }, 'approval.vary': ['/day'] },
    'the query of a write',
  ],
  ['approval-vary', 'spec.approval.vary[0]', { ...RANGE, 'http.headers.x-day': '$(args.day)', 'approval.vary': ['/day'] }, 'a header'],
  [
    'approval-vary',
    'spec.approval.vary[0]',
    { ...RANGE, recheck: { contract: 'r', arguments: { id: '$(args.code)' }, expect: 'true' }, 'approval.vary': ['/code'] },
    'what is rechecked',
  ],
  ['approval-vary', 'spec.approval.vary[0]', { approval: { mode: 'Session', vary: ['/shop'] } }, 'a label that decides the path of a read'],
  ['effect-block', 'spec.idempotency', { idempotency: { mode: 'Natural' } }, 'idempotency of a read'],
  [
    'effect-block',
    'spec.http.open',
    { ...WRITE, 'http.open': { method: 'GET', url: 'https://api.example.com/v1/shops/a', values: { a: '/a' } } },
    'a request before a write',
  ],
  [
    'effect-because',
    'spec.approval.mode',
    {
      ...WRITE,
      idempotency: { mode: 'Natural' },
      approval: { mode: 'None' },
      evidence: { from: 'r', ids: '/code', claim: 'Absent', maxAge: '1h', match: [] },
    },
    'acting on what is absent',
  ],
  ['for-each', 'spec.forEach.argument', { ...WRITE, ...EACH_OF({ uniqueItems: false, minItems: 1 }) }, 'the same element twice'],
  ['for-each', 'spec.forEach.argument', { ...WRITE, ...EACH_OF({ uniqueItems: true }) }, 'no element at all'],
];

const read = objectOf(
  'ActionContract',
  'read-thing',
  `effect: Read
callers: [{serviceAccount: bot}]
arguments:
  type: object
  additionalProperties: false
  required: [id]
  properties: {id: {type: string, maxLength: 20}, since: {type: string, maxLength: 20}, few: {type: integer, maximum: 3}}
result: {id: [/id]}
`,
);
const readOf = (changes: Changes) => ({ contracts: [{ ...read, spec: changed(read.spec, changes) }] });
const RECHECK = { contract: 'read-thing', arguments: { id: 'x' }, expect: 'true' };
const write = { ...read, name: 'write-thing', spec: { ...read.spec, effect: 'Write' } };
const EVIDENCE = {
  from: 'read-thing',
  ids: '/code',
  claim: 'Listed',
  maxAge: '20m',
  match: [
    { evidenceArgument: 'id', argument: 'code' },
    { evidenceArgument: 'since', constant: 'x' },
    { evidenceArgument: 'few', constant: 1 },
  ],
};

/** A way that leads back to where it begins, and one over an API. */
const COMMAND: Changes = {
  http: undefined,
  readOnlyBecause: 'uptime only tells',
  credentials: ['a', 'b'],
  ssh: { credential: 'a', host: 'a.example.com', argv: ['uptime'], shell: 'Posix' },
  result: { object: '/', decoder: 'Lines', allFields: { because: 'one line' } },
  completeness: {},
  warnings: [],
};
const host = (name: string, via: string) =>
  sampleBinding(
    {
      contracts: ['list-things'],
      destinations: [{ origin: `ssh://${name}.example.com:22`, via, hostKeys: [`SHA256:${'A'.repeat(43)}`] }],
      use: { sshKey: { user: 'ops', privateKeyKey: 'id' } },
    },
    name,
  );

export const REFERENCE_ROWS: readonly (readonly [code: string, path: string, changes: Changes, around: Around])[] = [
  [
    'reference-effect',
    'spec.recheck.contract',
    { ...ASKED, recheck: { contract: 'write-thing', arguments: { id: 'x' }, expect: 'true' } },
    { contracts: [write] },
  ],
  [
    'reference-arguments',
    'spec.recheck.arguments',
    { ...ASKED, recheck: { contract: 'read-thing', arguments: {}, expect: 'true' } },
    { contracts: [read] },
  ],
  [
    'reference-arguments',
    'spec.recheck.arguments.idd',
    { ...ASKED, recheck: { contract: 'read-thing', arguments: { id: 'x', idd: 'x' }, expect: 'true' } },
    { contracts: [read] },
  ],
  ['evidence-match', 'spec.evidence.match', { ...ASKED, evidence: { ...EVIDENCE, match: [] } }, { contracts: [read] }],
  ['evidence-age', 'spec.evidence.maxAge', { ...ASKED, evidence: { ...EVIDENCE, maxAge: '14m' } }, { contracts: [read] }],
  [
    'evidence-age',
    'spec.evidence.maxAge',
    {
      ...ASKED,
      idempotency: { mode: 'Natural' },
      approval: { mode: 'None' },
      evidence: { ...EVIDENCE, maxAge: '15m', onIncomplete: 'RequestReview' },
    },
    { contracts: [read] },
  ],
  ['evidence-absence', 'spec.evidence.claim', { ...ASKED, evidence: { ...EVIDENCE, claim: 'Absent' } }, { contracts: [read] }],
  ['evidence-ids', 'spec.evidence.ids', { ...ASKED, evidence: { ...EVIDENCE, ids: '/note' } }, { contracts: [read] }],
  ['evidence-ids', 'spec.evidence.ids', { ...ASKED, evidence: { ...EVIDENCE, ids: '/tags' } }, { contracts: [read] }],
  ['evidence-ids', 'spec.evidence.from', { ...ASKED, evidence: EVIDENCE }, readOf({ 'result.id': ['/a', '/b'] })],
  ['evidence-ids', 'spec.evidence.from', { ...ASKED, evidence: EVIDENCE }, readOf({ completeness: { sources: { list: [] } } })],
  [
    'evidence-match',
    'spec.evidence.match[2].constant',
    { ...ASKED, evidence: { ...EVIDENCE, match: EVIDENCE.match.with(2, { evidenceArgument: 'few', constant: 4 }) } },
    { contracts: [read] },
  ],
  [
    'evidence-match',
    'spec.evidence.match[2].argument',
    { ...ASKED, evidence: { ...EVIDENCE, match: EVIDENCE.match.with(2, { evidenceArgument: 'few', argument: 'code' }) } },
    { contracts: [read] },
  ],
  [
    'reference-arguments',
    'spec.recheck.arguments.few',
    { ...ASKED, recheck: { ...RECHECK, arguments: { id: 'x', few: '$(args.code)' } } },
    { contracts: [read] },
  ],
  [
    'reference-arguments',
    'spec.recheck.arguments.few',
    { ...ASKED, recheck: { ...RECHECK, arguments: { id: 'x', few: 9 } } },
    { contracts: [read] },
  ],
  [
    'reference-arguments',
    'spec.recheck.arguments.id',
    { ...ASKED, recheck: { ...RECHECK, arguments: { id: '$(args.words)' } } },
    { contracts: [read] },
  ],
  ['reference-caller', 'spec.recheck.contract', { ...ASKED, recheck: RECHECK }, readOf({ callers: [{ serviceAccount: 'other' }] })],
  ['reference-caller', 'spec.evidence.from', { ...ASKED, evidence: EVIDENCE }, readOf({ callers: [] })],
  [
    'exactly-one',
    'spec.evidence.match[0]',
    { ...ASKED, evidence: { ...EVIDENCE, match: [{ evidenceArgument: 'id' }] } },
    { contracts: [read] },
  ],
  ['reference-approval', 'spec.recheck.contract', { ...ASKED, recheck: RECHECK }, readOf({ approval: { mode: 'EachCall' } })],
  ['binding-hop', 'spec.credentials', COMMAND, { bindings: [host('a', 'b'), host('b', 'a')] }],
  ['binding-hop', 'spec.credentials', COMMAND, { bindings: [host('a', 'b'), sampleBinding({ contracts: [] }, 'b')] }],
];

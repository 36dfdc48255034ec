/**
 * Goal: no entry of the hostile corpus, and no failure case of effects, is forgotten. Method: the committed lists of ids, of the corpus with
 * what must come of each; every id must stand in the code, not only in a comment, of a test somewhere else.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

/** Outcomes by the names of today: a cut body is REMOTE_PROTOCOL, an unframed one COMPLETENESS_UNPROVEN. */
const CORPUS: readonly (readonly [id: string, outcome: string])[] = [
  ['JSON-04', 'INVALID_ARGUMENT before any upstream byte, reason unsafe_integer'],
  ['JSON-04b', 'INVALID_ARGUMENT before any upstream byte, reason unsafe_integer'],
  ['JSON-07', 'INVALID_ARGUMENT before any upstream byte, reason too_deep, in < 50 ms'],
  ['JSON-08b', 'INVALID_ARGUMENT before any upstream byte, reason syntax'],
  ['JSON-08c', 'INVALID_ARGUMENT before any upstream byte, reason trailing_data'],
  ['JSON-08d', 'INVALID_ARGUMENT before any upstream byte, reason not_an_object'],
  ['JSON-09', 'INVALID_ARGUMENT before any upstream byte, reason lone_surrogate'],
  ['JSON-25', 'INVALID_ARGUMENT before any upstream byte, reason invalid_utf8'],
  ['JSON-26', 'INVALID_ARGUMENT before any upstream byte'],
  ['JSON-26c', 'INVALID_ARGUMENT before any upstream byte'],
  ['JSON-11', 'INVALID_ARGUMENT before any upstream byte, reason not_nfc (identifier slot)'],
  ['JSON-15', 'INVALID_ARGUMENT before any upstream byte (end anchor does not accept a final newline)'],
  ['HTTP-27.00', 'INVALID_ARGUMENT (dot_segment)'],
  ['HTTP-27.01', 'INVALID_ARGUMENT (dot_segment)'],
  ['HTTP-28.02', 'INVALID_ARGUMENT (percent)'],
  ['HTTP-28.04', 'INVALID_ARGUMENT (percent)'],
  ['HTTP-28.05', 'INVALID_ARGUMENT (separator)'],
  ['HTTP-28.06', 'INVALID_ARGUMENT (separator)'],
  ['HTTP-28.07', 'INVALID_ARGUMENT (dot_segment)'],
  ['HTTP-28.08', 'INVALID_ARGUMENT (reserved or encoded)'],
  ['HTTP-28.09', 'INVALID_ARGUMENT (reserved or encoded)'],
  ['HTTP-28.11', 'INVALID_ARGUMENT (control)'],
  ['HTTP-28.12', 'INVALID_ARGUMENT (control)'],
  ['HTTP-28.15', 'INVALID_ARGUMENT (separator)'],
  ['HTTP-28.16', 'INVALID_ARGUMENT (separator)'],
  ['HTTP-28.19', 'INVALID_ARGUMENT (too_long)'],
  ['HTTP-30.00', 'the fake server decodes exactly one parameter q equal to the value, or INVALID_ARGUMENT for control characters'],
  ['HTTP-30.01', 'the fake server decodes exactly one parameter q equal to the value, or INVALID_ARGUMENT for control characters'],
  ['HTTP-30.02', 'the fake server decodes exactly one parameter q equal to the value, or INVALID_ARGUMENT for control characters'],
  ['HTTP-30.03', 'the fake server decodes exactly one parameter q equal to the value, or INVALID_ARGUMENT for control characters'],
  ['HTTP-30.04', 'the fake server decodes exactly one parameter q equal to the value, or INVALID_ARGUMENT for control characters'],
  ['HTTP-30.05', 'the fake server decodes exactly one parameter q equal to the value, or INVALID_ARGUMENT for control characters'],
  ['HTTP-30.06', 'the fake server decodes exactly one parameter q equal to the value, or INVALID_ARGUMENT for control characters'],
  ['JSON-14', 'rejected at admission: pattern not in the linear dialect'],
  ['JSON-15c', 'rejected: pattern must be anchored at both ends'],
  ['JSON-16', 'rejected: object at /properties/tags/items is open'],
  ['JSON-17', 'rejected: keyword not in the dialect'],
  ['JSON-18', 'rejected: unknown keyword maxLenght, path given'],
  ['JSON-20', 'rejected, or the default is applied before hashing and shown on the card'],
  ['JSON-21', 'rejected without a network request'],
  ['JSON-22', 'rejected: maxItems missing and uniqueItems on objects'],
  ['JSON-24', 'CLI reports the alias cycle; nothing applied'],
  ['HTTP-25', 'rejected: host is not in canonical form (127.0.0.1) and is loopback'],
  ['HTTP-25b', 'rejected: host not canonical'],
  ['HTTP-26', 'rejected: trailing dot'],
  ['HTTP-26b', 'rejected: zone id'],
  ['HTTP-05', 'rejected: whole path is a free parameter'],
  ['HTTP-06', 'rejected: reserved header names'],
  ['HTTP-06b', 'rejected: header name is not a token'],
  ['HTTP-X1', 'rejected, or needs an explicit plaintext opt-in visible as a condition'],
  ['HTTP-X2', 'rejected: userinfo in url'],
  ['HTTP-X3', 'rejected: method is fixed'],
  ['HTTP-01', 'REDIRECT_REFUSED with status and no Location value'],
  ['HTTP-01c', 'REDIRECT_REFUSED even on the same origin'],
  ['HTTP-08', 'complete:false with reason COMPLETENESS_UNPROVEN though the JSON parses'],
  ['HTTP-09', 'REMOTE_PROTOCOL'],
  ['HTTP-14', 'RESPONSE_TOO_LARGE at the decoded cap, RSS bounded'],
  ['HTTP-18', 'second call returns second (or fails)'],
  ['HTTP-18b', 'second call returns second (or fails)'],
  ['HTTP-31.0', 'REMOTE_RATE_LIMITED, continuation retry_after: bounded minimum wait'],
  ['HTTP-31.1', 'REMOTE_RATE_LIMITED, continuation retry_after: ignored'],
  ['HTTP-31.3', 'REMOTE_RATE_LIMITED, continuation retry_after: capped'],
  ['HTTP-31.4', 'REMOTE_RATE_LIMITED, continuation retry_after: 0 then bounded minimum'],
  ['HTTP-31.5', 'REMOTE_RATE_LIMITED, continuation retry_after: ignored'],
  ['HTTP-36', 'ok; headers handled as data'],
  ['HTTP-37', 'second request carries no cookie'],
  ['HTTP-40', "REMOTE_PROTOCOL: content type not the contract's"],
  ['LEAK-05.b64', 'value masked, warning CREDENTIAL_REFLECTED, binding flagged'],
  ['LEAK-05.b64url', 'value masked, warning CREDENTIAL_REFLECTED, binding flagged'],
  ['LEAK-05.b64_off1', 'value masked, warning CREDENTIAL_REFLECTED, binding flagged'],
  ['LEAK-05.basic', 'value masked, warning CREDENTIAL_REFLECTED, binding flagged'],
  ['LEAK-05.hex', 'value masked, warning CREDENTIAL_REFLECTED, binding flagged'],
  ['LEAK-05.HEX', 'value masked, warning CREDENTIAL_REFLECTED, binding flagged'],
  ['LEAK-05.percent', 'value masked, warning CREDENTIAL_REFLECTED, binding flagged'],
  ['LEAK-05.percent_twice', 'value masked, warning CREDENTIAL_REFLECTED, binding flagged'],
  ['LEAK-05.json_u', 'value masked, warning CREDENTIAL_REFLECTED, binding flagged'],
  ['LEAK-01', 'REMOTE_UNAVAILABLE with status class; headers not returned'],
  [
    'LEAK-22',
    'argument equal to the credential is answered like any other argument; no visible mask on caller-supplied text; one counted anomaly',
  ],
  ['GRPC-06', 'stream limit enforced, excess refused, RSS bounded'],
  ['GRPC-07', '0 upstream requests for streams reset before dispatch; flood counted'],
  ['GRPC-08b', 'stream error, process lives'],
  ['GRPC-08c', 'refused: compressed flag without encoding'],
  ['GRPC-09', 'RESOURCE_EXHAUSTED at once'],
  ['GRPC-10.1', 'deadline clamped to the contract maximum, or INVALID_ARGUMENT'],
  ['GRPC-10.2', 'deadline clamped to the contract maximum, or INVALID_ARGUMENT'],
  ['GRPC-10.5', 'deadline clamped to the contract maximum, or INVALID_ARGUMENT'],
  ['GRPC-15', 'ignored; presence noted'],
  ['SSH-01', 'rejected: hostKeys missing'],
  ['SSH-02', 'HOST_KEY_MISMATCH before auth'],
  ['SSH-05', 'rejected: a contract has no field for algorithms'],
  ['SSH-06b', 'complete:false; REMOTE_PROTOCOL for a read, OUTCOME_UNKNOWN for an effect'],
  ['SSH-07', 'complete:false; REMOTE_PROTOCOL for a read, OUTCOME_UNKNOWN for an effect'],
  ['SSH-12', 'truncated:true RESULT_LIMIT_REACHED, memory bounded by cap + 16 MiB'],
  ['SSH-21', 'each refused'],
  ['SSH-14.02', 'remote argv[2] equals the value byte for byte'],
  ['SSH-14.04', 'INVALID_ARGUMENT (control)'],
  ['SSH-14.08', 'remote argv[2] equals the value byte for byte'],
  ['SSH-14.09', 'remote argv[2] equals the value byte for byte'],
  ['SSH-14.14', 'remote argv[2] equals the value byte for byte'],
  ['SSH-14.15', 'INVALID_ARGUMENT (too_long)'],
  ['APR-06.02', 'card: code points and a warning (zero width)'],
  ['APR-06.03', 'card: code points and a warning (blank-looking letters)'],
  ['APR-06.04', 'card: code points and a warning (braille blank)'],
  ['APR-06.05', 'card: code points and a warning (tag characters)'],
  ['APR-06.09', 'card: counted, and a warning (wide blanks)'],
  ['APR-06.10', 'card: shown as text, and a warning (markup)'],
  ['APR-06.12', 'card: a warning (secret-shaped text typed by the agent)'],
  ['AUD-01', 'chain valid to 8; TRUNCATED: witnessed 9; exit != 0'],
  ['AUD-01b', 'first broken sequence 1; exit != 0'],
  ['AUD-03', 'ROLLBACK: head older than witnessed, pod UID differs'],
  ['AUD-10', 'segment closed, new segment, call refused'],
  ['AUD-11', 'refuse to start; bytes unchanged'],
  ['AUD-14', 'no effect without intent; a dangling intent is OUTCOME_UNKNOWN'],
  ['AUD-15', 'calls refused AUDIT_UNAVAILABLE at their deadline; queue bounded'],
  ['AUD-16b', 'FORK: both heads printed'],
  ['AUD-17', 'order by sequence; CLOCK_SKEW warning at 5'],
  ['AUD-18', 'probe fails: store refused'],
  ['AUD-19', 'equal bytes: success; other bytes: error, local copy kept'],
  ['AUD-22', 'first broken sequence, memory bounded'],
  ['AUD-22b', 'output escaped'],
  ['AUD-24', 'CONFLICT with 9'],
];

/** Failure cases of effects, whether the corpus has an entry of them or not. */
const EFFECTS: readonly string[] = [
  ...numbered('APR', 1, 19),
  ...numbered('SSH', 1, 23),
  ...numbered('HTTP', 10, 13),
  ...numbered('AUD', 8, 16),
  'GRPC-07',
  'GRPC-11',
];

const tests = join(import.meta.dirname, '..');

/** Code of all test files but this one, without lines that are comments. */
const code = readdirSync(tests, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !name.endsWith('hostile-coverage.test.ts') && !name.includes('node_modules'))
  .map((name) => readFileSync(join(tests, name), 'utf8').replaceAll(/^\s*(?:\*|\/\/|\/\*).*$/gm, ''))
  .join('\n');

for (const [id, outcome] of CORPUS) {
  test(`hostile corpus: ${id} is a test (${outcome})`, () => assertTried(id));
}

for (const id of EFFECTS) {
  test(`failure cases: ${id} is a test`, () => assertTried(id));
}

test('hostile corpus: each of its 121 ids stands once in the lists', () => {
  const ids = CORPUS.map(([id]) => id);
  assert.deepEqual([new Set(ids).size, ids.length], [121, 121]);
});

function assertTried(id: string): void {
  assert.match(code, mentioning(id));
}

function mentioning(id: string): RegExp {
  return new RegExp(`(?<![\\w-])${id.replaceAll('.', '\\.')}(?![\\w-]|\\.\\w)`);
}

function numbered(area: string, first: number, last: number): readonly string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => `${area}-${String(first + index).padStart(2, '0')}`);
}

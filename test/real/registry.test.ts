/**
 * Goal: tags of a real OCI registry, walked by its Link headers. Method: 250 tags pushed to one repository; the answers are
 * compared with what was pushed.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Stage, startStage } from '#test/flow/stage.ts';
import { unavailable } from '#test/servers/build.ts';
import { type Registry, startRegistry } from '#test/servers/registry.ts';
import { startTlsFront, type TlsFront } from '#test/servers/tls-front.ts';
import { codesOf, rowsOf, walkAll } from './walk-all.ts';

const skip = await unavailable('registry');

// Mixed case and punctuation: the registry's order is by byte, and that is what Keyset is checked against.
const tags = Array.from({ length: 250 }, (_, index) => ['v1.', 'V1-', '_', 'latest', '0.'][index % 5] + String(index));
const sorted = tags.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

let registry: Registry;
let front: TlsFront;
let stage: Stage;

before(async () => {
  if (skip !== false) return;
  registry = await startRegistry();
  await registry.pushTags('acme/storefront', tags);
  await registry.pushTags('acme/single', ['only']);
  front = await startTlsFront({ target: registry.url });
  stage = await startStage({
    contracts: [
      binding(front.url),
      listTags('list-tags', front.url, '{pages: 20, items: 1000, time: 20s, pageSize: 30}'),
      listTags('list-in-parts', front.url, '{pages: 20, items: 77, time: 20s, pageSize: 30}'),
      listTags('list-one-page', front.url, '{pages: 20, items: 1000, time: 20s, pageSize: 250}'),
    ].join('\n---\n'),
    upstreamPort: 0,
    credentials: { 'postern-registry/token': 'registry-token-0123456789', 'postern-registry/ca.crt': front.caPem },
  });
});
after(async () => {
  await stage?.[Symbol.asyncDispose]();
  await front?.[Symbol.asyncDispose]();
  await registry?.[Symbol.asyncDispose]();
});

function binding(origin: string): string {
  return `apiVersion: postern.dev/v1alpha1
kind: CredentialBinding
metadata: {name: registry, namespace: real}
spec:
  owner: release-engineering
  secret: {name: postern-registry}
  contracts: [list-tags, list-in-parts, list-one-page]
  destinations: [{origin: "${origin}", methods: [GET], pathPrefixes: [/v2/acme/], addresses: [127.0.0.1/32], ca: {key: ca.crt}}]
  use: {bearer: {key: token}}`;
}

function listTags(name: string, origin: string, limits: string): string {
  return `apiVersion: postern.dev/v1alpha1
kind: ActionContract
metadata: {name: ${name}, namespace: real}
spec:
  action: ${name.replaceAll('-', '_')}
  summary: List tags of $(args.image)
  owner: release-engineering
  effect: Read
  callers: [{serviceAccount: release-bot}]
  credentials: [registry]
  arguments: {type: object, additionalProperties: false, required: [image], properties: {image: {type: string, enum: [storefront, single, absent]}}}
  http: {credential: registry, method: GET, url: "${origin}/v2/acme/$(args.image)/tags/list"}
  result: {as: tags, order: {by: /, direction: Ascending, compare: Text}, fields: [{name: tag, path: /}]}
  completeness:
    preset: oci-distribution-v1
    consistency: {mode: Keyset, because: "\`last\` seeks behind a tag in lexical order"}
    limits: ${limits}
    scope: {resource: tags of $(args.image), visibility: repositories the reader may pull, absence: Provable}
  warnings: [{name: filter-ignored, code: DEFAULT_SCOPE_APPLIED, owner: release-engineering, expires: "2027-06-30", message: No filter}]`;
}

function tagsIn(rows: readonly Readonly<Record<string, unknown>>[]): unknown[] {
  return rows.map(({ tag }) => tag);
}

test('registry: 250 tags walked by Link are complete, in order, checked', { skip }, async () => {
  const answer = await stage.call('list_tags', { image: 'storefront' });
  assert.deepEqual(tagsIn(rowsOf(answer)), sorted);
  assert.equal(answer.completeness.complete, true);
  assert.equal(answer.completeness.scope.consistency, 'checked');
  // Nine pages have a Link; the tenth says the end by having none.
  assert.equal(answer.completeness.page.walk.pages, 10);
  assert.notEqual(answer.evidence, undefined);
});

test('registry: the walk in several calls, cut in the middle of pages, is the same', { skip }, async () => {
  const { rows, answers, last } = await walkAll(stage, 'list_in_parts', { image: 'storefront' });
  assert.deepEqual(tagsIn(rows), sorted);
  assert.deepEqual(
    answers.map(({ completeness }) => completeness.page.returned),
    [77, 77, 77, 19],
  );
  assert.deepEqual(answers.map(codesOf).at(0), ['MORE_PAGES_AVAILABLE', 'RESULT_LIMIT_REACHED']);
  assert.equal(last.completeness.complete, true);
});

test('registry: a full last page without a Link is not trusted before the end is seen', { skip }, async () => {
  const answer = await stage.call('list_one_page', { image: 'storefront' });
  assert.deepEqual(tagsIn(rowsOf(answer)), sorted);
  assert.equal(answer.completeness.complete, true);
  assert.equal(answer.completeness.page.walk.pages, 2);
});

test('registry: a repository with one tag is complete', { skip }, async () => {
  const answer = await stage.call('list_tags', { image: 'single' });
  assert.deepEqual(rowsOf(answer), [{ tag: 'only' }]);
  assert.equal(answer.completeness.complete, true);
});

test('registry: an unknown repository is denied, not an empty list', { skip }, async () => {
  const error = await stage.refused('list_tags', { image: 'absent' });
  assert.equal(error.reason, 'REMOTE_DENIED');
});

/**
 * What sending twice does, where the key goes that makes it once, and the read that finds out what a lost reply meant.
 *
 * The key is put into the compiled request here, as the slot `$(operation.key)` at the declared place. So whatever assembles, digests,
 * explains or attacks requests sees it like every other part. An author cannot write that slot: the place is stated once, with the
 * time the remote keeps keys, and a reviewer who reads `mode: None` knows that no key is sent.
 */
import { limits } from '#core/bounds/limits.ts';
import { RESULT_VARIABLES } from '#core/completeness/rule.ts';
import type { BodyTemplate, HttpTarget, JsonTemplate, RequestTemplate, Slot, SshTarget } from './compiled.ts';
import type { Draft } from './draft.ts';
import type { IdempotencyRules } from './effect-rules.ts';
import { givenReadAt } from './given-read.ts';
import { isHeaderName, reservedBecause } from './header-rules.ts';
import type { SpecNode } from './spec-node.ts';

const KEY: Slot = { root: 'operation', path: ['key'], text: '$(operation.key)' };
const PLACES = ['header', 'body', 'form'] as const;

export function idempotencyAt(draft: Draft, node: SpecNode): IdempotencyRules {
  const mode = node.at('mode').choice(['None', 'Natural', 'Key']);
  const places = PLACES.filter((place) => node.at(place).present);
  if (mode === 'Key' && (places.length !== 1 || !node.at('ttl').present))
    node.problem('idempotency-key', 'A key is sent in exactly one of header, body and form, and the remote keeps it for a ttl.');
  if (mode !== 'Key' && places.length > 0)
    node.problem('idempotency-key', `idempotency ${mode} sends no key.`, { cure: 'Set mode: Key, or drop the place.' });
  if (mode !== 'Key' && node.at('ttl').present)
    node.at('ttl').problem('idempotency-ttl', `idempotency ${mode} sends no key, so nothing is kept for a ttl.`, { cure: 'Drop ttl.' });
  const ttlMs = mode === 'Key' && node.at('ttl').present ? ttlAt(node.at('ttl')) : undefined;
  const settle = node.maybe('settle');
  return {
    mode,
    ...(ttlMs === undefined ? {} : { ttlMs }),
    ...(settle === undefined ? {} : { settle: settleAt(draft, settle) }),
  };
}

function ttlAt(node: SpecNode): number {
  const ms = node.milliseconds();
  const { idempotencyTtlMsMin: least, idempotencyTtlMsMax: most } = limits;
  if (ms !== 0 && (ms < least || ms > most))
    node.problem('idempotency-ttl', `${JSON.stringify(node.value)} is not between ${least / 1000} seconds and ${most / 86_400_000} days.`);
  return ms;
}

function settleAt(draft: Draft, node: SpecNode): NonNullable<IdempotencyRules['settle']> {
  const notDone = node.maybe('notDone')?.rule(RESULT_VARIABLES);
  return {
    ...givenReadAt(draft, node, 'settle'),
    afterMs: node.maybe('after')?.milliseconds() ?? limits.settleAfterMsDefault,
    done: node.at('done').rule(RESULT_VARIABLES),
    ...(notDone === undefined ? {} : { notDone }),
  };
}

/** The target with the key in its main request; itself where no key is sent. What open, next and close send has no effect to repeat. */
export function withKey(draft: Draft, target: HttpTarget | SshTarget): HttpTarget | SshTarget {
  const node = draft.spec.at('idempotency');
  if (node.at('mode').value !== 'Key') return target;
  if (target.kind === 'ssh') {
    node.problem('idempotency-key', 'A command has no place a key would be sent in.', {
      cure: 'Use mode: Natural for a command that may run twice, or None.',
    });
    return target;
  }
  const { request } = target;
  const [place] = PLACES.filter((each) => node.at(each).present);
  switch (place) {
    case 'header':
      return { ...target, request: keyInHeader(node.at(place), request) };
    case 'form':
      return { ...target, request: keyInForm(node.at(place), request) };
    case 'body':
      return { ...target, request: keyInBody(node.at(place), request) };
    default:
      return target;
  }
}

/** The key's header is Postern's to send: a name the contract sets too, or one of the transport, would be sent twice. */
function keyInHeader(node: SpecNode, request: RequestTemplate): RequestTemplate {
  const name = node.text().toLowerCase();
  const reserved = reservedBecause(name);
  if (name !== '' && !isHeaderName(name)) node.problem('header-name', `${JSON.stringify(name)} is not a header name.`);
  else if (reserved !== undefined) node.problem('header-reserved', `The header ${name} ${reserved}.`);
  else if (request.headers.some(([written]) => written === name))
    node.problem('duplicate-name', `The contract sets the header ${name} itself.`);
  return { ...request, headers: byName([...request.headers, [name, [KEY]]]) };
}

function keyInForm(node: SpecNode, request: RequestTemplate): RequestTemplate {
  const name = node.text();
  const { body } = request;
  if (body?.kind !== 'form') {
    node.problem('idempotency-key', 'The request has no form, so the key would not be sent.', { cure: 'Write http.body.form.' });
    return request;
  }
  if (!/^[!-~]+$/.test(name) || name.includes('$(')) node.problem('body-name', `${JSON.stringify(name)} is not a literal name.`);
  else if (body.fields.some(([written]) => written === name)) node.problem('duplicate-name', `The contract sets the field ${name} itself.`);
  return { ...request, body: { ...body, fields: byName([...body.fields, [name, [KEY]]]) } };
}

function keyInBody(node: SpecNode, request: RequestTemplate): RequestTemplate {
  const names = node.pointer().steps.map((step) => (step.kind === 'member' ? step.name : undefined));
  const { body } = request;
  if (names.length === 0 || names.includes(undefined)) {
    node.problem('idempotency-key', 'The place of the key is no member of the body.', { cure: 'Write a path such as /request_id.' });
    return request;
  }
  const json = body?.kind === 'json' ? withMember(body.json, names as readonly string[]) : 'nowhere';
  if (json === 'taken') node.problem('duplicate-name', 'The contract sets this member of the body itself.');
  else if (json === 'nowhere')
    node.problem('idempotency-key', 'The body has no map at this place, so the key would not be sent.', {
      cure: 'Write the map in http.body.json.',
    });
  else return { ...request, body: { ...(body as BodyTemplate & { kind: 'json' }), json } };
  return request;
}

function withMember(json: JsonTemplate, [name = '', ...rest]: readonly string[]): JsonTemplate | 'taken' | 'nowhere' {
  if (json.kind !== 'object') return 'nowhere';
  const held = json.members.find(([each]) => each === name)?.[1];
  if (rest.length === 0) {
    return held === undefined ? { ...json, members: byName([...json.members, [name, { kind: 'slot', slot: KEY }]]) } : 'taken';
  }
  const inner = held === undefined ? 'nowhere' : withMember(held, rest);
  if (typeof inner === 'string') return inner;
  return { ...json, members: json.members.map(([each, value]) => [each, each === name ? inner : value]) };
}

function byName<T>(entries: readonly (readonly [string, T])[]): readonly (readonly [string, T])[] {
  return entries.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

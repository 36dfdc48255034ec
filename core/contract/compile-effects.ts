/**
 * The blocks of writes: approval, evidence, recheck, forEach, idempotency, prepare. They are judged now and executed once effects are
 * served; what is compiled of them is kept as written.
 */

import { limits } from '#core/bounds/limits.ts';
import { isObject, memberOf } from '#core/completeness/path.ts';
import { RESULT_VARIABLES } from '#core/completeness/rule.ts';
import { jsonAt } from './compile-request.ts';
import type { CompiledContract, JsonValue } from './compiled.ts';
import { type Draft, type Stage, templateAt } from './draft.ts';
import { isHeaderName, reservedBecause } from './header-rules.ts';
import { nearestName } from './nearest.ts';
import { plainText } from './plain-text.ts';
import type { ArgumentSchema, ArgumentsSchema } from './schema.ts';
import type { SpecNode } from './spec-node.ts';

const MODES = ['None', 'Session', 'EachCall'] as const;

export function compileEffects(draft: Draft, args: ArgumentsSchema): CompiledContract['effects'] {
  const { spec } = draft;
  const approval = spec.at('approval');
  const expiresAfterMs = approval.maybe('expiresAfter')?.milliseconds();
  forEachAt(spec.maybe('forEach'), args);
  evidenceAt(spec.maybe('evidence'), args, expiresAfterMs);
  givenAt(draft, spec.maybe('recheck'), 'recheck');
  idempotencyAt(draft, spec.at('idempotency'));
  const prepare = spec.maybe('prepare');
  givenAt(draft, prepare, 'prepare');
  for (const field of prepare?.at('fields').list() ?? []) preparedFieldAt(draft, field);
  spec.maybe('recheck')?.at('expect').rule(RESULT_VARIABLES);
  argumentPathAt(approval.maybe('reason'), args);
  for (const path of approval.at('vary').list()) argumentPathAt(path, args);
  return {
    approval: { mode: approval.at('mode').choice(MODES), ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }) },
    ...asWritten(spec, ['evidence', 'recheck', 'forEach', 'idempotency', 'prepare']),
  };
}

function asWritten(spec: SpecNode, names: readonly string[]): { readonly [name: string]: JsonValue } {
  const kept: Record<string, JsonValue> = {};
  for (const name of names) {
    const value = isObject(spec.value) ? memberOf(spec.value, name) : undefined;
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

/** The schema a path such as `/project_ids` leads to. */
export function argumentPathAt(node: SpecNode | undefined, args: ArgumentsSchema): ArgumentSchema | undefined {
  if (node === undefined) return undefined;
  const text = node.text();
  let here: ArgumentSchema | undefined = args;
  for (const name of text.split('/').slice(1)) {
    here = here?.type === 'object' && Object.hasOwn(here.properties, name) ? here.properties[name] : undefined;
  }
  if (text !== '' && (!text.startsWith('/') || here === undefined || here === args)) {
    const names = Object.keys(args.properties);
    const near = nearestName(text.slice(1), names);
    node.problem('argument-unknown', `${JSON.stringify(text)} is no argument.`, { nearest: near === undefined ? undefined : `/${near}` });
    return undefined;
  }
  return here;
}

function forEachAt(node: SpecNode | undefined, args: ArgumentsSchema): void {
  if (node === undefined) return;
  const schema = argumentPathAt(node.at('argument'), args);
  if (schema !== undefined && (schema.type !== 'array' || schema.maxItems > limits.contractTargetsMax)) {
    node.at('argument').problem('for-each', `The argument is no list of at most ${limits.contractTargetsMax} elements.`);
  }
  node.at('order').choice(['Sequential']);
  node.at('onFailure').choice(['Stop', 'Continue']);
}

function evidenceAt(node: SpecNode | undefined, args: ArgumentsSchema, approvalMs: number | undefined): void {
  if (node === undefined) return;
  node.at('from').text();
  node.at('claim').choice(['Listed', 'Absent']);
  argumentPathAt(node.at('ids'), args);
  const maxAge = node.at('maxAge').milliseconds();
  node.at('onIncomplete').choice(['Refuse', 'RequestReview']);
  node.at('proof').choice(['Checked', 'Declared']);
  if (approvalMs !== undefined && maxAge > 0 && maxAge < approvalMs + limits.evidenceMarginMsMin) {
    node.at('maxAge').problem('evidence-age', 'The evidence may expire while a person still reads the card.');
  }
}

/** `contract` and `arguments` of another contract's read. */
function givenAt(draft: Draft, node: SpecNode | undefined, stage: Stage): void {
  if (node === undefined) return;
  node.at('contract').text();
  for (const [, value] of node.at('arguments').entries()) jsonAt(draft, value, stage);
}

function preparedFieldAt(draft: Draft, field: SpecNode): void {
  field.at('name').text();
  field.at('path').pointer();
  const after = field.maybe('after');
  if (after !== undefined) templateAt(draft, after, 'words', 'prepare');
}

function idempotencyAt(draft: Draft, node: SpecNode): void {
  const mode = node.at('mode').choice(['None', 'Natural', 'Key']);
  const places = (['header', 'body', 'form'] as const).filter((place) => node.at(place).present);
  if (mode === 'Key' && (places.length !== 1 || !node.at('ttl').present)) {
    node.problem('idempotency-key', 'A key is sent in exactly one of header, body and form, and the remote keeps it for a ttl.');
  }
  if (mode !== 'Key' && places.length > 0)
    node.problem('idempotency-key', `idempotency ${mode} sends no key.`, { cure: 'Set mode: Key, or drop the place.' });
  node.maybe('ttl')?.milliseconds();
  const header = node.maybe('header');
  if (header !== undefined) checkKeyHeader(draft, header);
  const settle = node.maybe('settle');
  if (settle === undefined) return;
  givenAt(draft, settle, 'settle');
  settle.maybe('after')?.milliseconds();
  settle.at('done').rule(RESULT_VARIABLES);
  settle.maybe('notDone')?.rule(RESULT_VARIABLES);
}

/** The key's header is Postern's to send: a name the contract sets too, or one of the transport, would be sent twice. */
function checkKeyHeader(draft: Draft, node: SpecNode): void {
  const name = node.text().toLowerCase();
  const reserved = reservedBecause(name);
  if (name !== '' && !isHeaderName(name)) node.problem('header-name', `${JSON.stringify(name)} is not a header name.`);
  else if (reserved !== undefined) node.problem('header-reserved', `The header ${name} ${reserved}.`);
  else if (
    draft.spec
      .at('http')
      .at('headers')
      .entries()
      .some(([written]) => written.toLowerCase() === name)
  ) {
    node.problem('duplicate-name', `The contract sets the header ${name} itself.`);
  }
}

/** Which effect may have which blocks, and what a risky one owes (design section 3). */
export function checkEffect(draft: Draft, contract: Pick<CompiledContract, 'effect' | 'effects' | 'target'>): void {
  const { spec } = draft;
  if (contract.effect === 'Read') checkRead(draft, contract);
  else checkWrite(draft, contract);
  const mode = spec.at('idempotency').at('mode').value;
  const safeForSessions = contract.effect === 'Read' || (contract.effect === 'Write' && mode !== 'None');
  if (contract.effects.approval.mode === 'Session' && !safeForSessions) {
    spec
      .at('approval')
      .at('mode')
      .problem('effect-session', `A ${contract.effect} with idempotency ${plainText(mode)} is not approved per session.`);
  }
}

const WRITE_BLOCKS = ['forEach', 'evidence', 'recheck', 'prepare'] as const;

function checkRead(draft: Draft, contract: Pick<CompiledContract, 'target'>): void {
  for (const name of WRITE_BLOCKS) {
    const block = draft.spec.maybe(name);
    block?.problem('effect-block', `${name} belongs to Write and Destructive.`);
  }
  if ((draft.spec.maybeText('readOnlyBecause') ?? '').trim() !== '') return;
  const { target } = contract;
  // No method says that a command only reads, so its owner does (design section 10).
  if (target.kind === 'ssh') draft.spec.at('ssh').problem('method-read-only', 'A Read over SSH has no readOnlyBecause.');
  else if (!['GET', 'HEAD'].includes(target.request.method)) {
    draft.spec.at('http').at('method').problem('method-read-only', `A Read with ${target.request.method} has no readOnlyBecause.`);
  }
}

/** A write answers one object: only notices and waits say something about it (contract language, section 5, point 26). */
const READ_BLOCKS = ['paging', 'consistency', 'required', 'signals', 'totals', 'reach', 'cursor', 'job', 'freshness', 'sources'] as const;

function checkWrite(draft: Draft, contract: Pick<CompiledContract, 'effects'>): void {
  const { spec } = draft;
  const written = isObject(draft.object.spec.completeness) ? draft.object.spec.completeness : {};
  for (const name of READ_BLOCKS) {
    if (Object.hasOwn(written, name)) spec.at('completeness').at(name).problem('effect-block', `${name} belongs to Read.`);
  }
  if (spec.at('readOnlyBecause').present) spec.at('readOnlyBecause').problem('effect-block', 'readOnlyBecause belongs to Read.');
  const approval = spec.at('approval');
  const reason = (approval.maybeText('because') ?? '').trim();
  const { mode } = contract.effects.approval;
  if (spec.at('idempotency').at('mode').value === 'None' && mode !== 'EachCall' && reason === '') {
    approval.problem('effect-approval', 'A call that may take effect twice is approved by nobody, and nothing says why.');
  } else if (spec.at('effect').value === 'Destructive' && mode === 'None' && reason === '') {
    approval.at('mode').problem('effect-because', 'A Destructive without approval needs a because.');
  }
}

/**
 * The blocks that hold an effect back or tell what became of it: approval, evidence, recheck, forEach, idempotency, prepare. What is
 * wrong with one block alone is said here; check-effect.ts has what they owe each other, check-references.ts what they owe other contracts.
 */

import { limits } from '#core/bounds/limits.ts';
import { RESULT_VARIABLES } from '#core/completeness/rule.ts';
import { argumentAt, schemaAt } from './argument-path.ts';
import { idempotencyAt } from './compile-idempotency.ts';
import { type Draft, templateAt } from './draft.ts';
import type { ApprovalRules, EffectRules, EvidenceRules, PreparedField } from './effect-rules.ts';
import { givenReadAt } from './given-read.ts';
import type { ArgumentSchema, ArgumentsSchema } from './schema.ts';
import type { SpecNode } from './spec-node.ts';

export function compileEffects(draft: Draft, args: ArgumentsSchema): EffectRules {
  const { spec } = draft;
  const approval = approvalAt(spec.at('approval'), args);
  const forEach = spec.maybe('forEach');
  const evidence = spec.maybe('evidence');
  const recheck = spec.maybe('recheck');
  const prepare = spec.maybe('prepare');
  return {
    approval,
    ...(evidence === undefined ? {} : { evidence: evidenceAt(evidence, args, approval) }),
    ...(recheck === undefined
      ? {}
      : { recheck: { ...givenReadAt(draft, recheck, 'recheck'), expect: recheck.at('expect').rule(RESULT_VARIABLES) } }),
    ...(forEach === undefined ? {} : { forEach: forEachAt(forEach, args) }),
    idempotency: idempotencyAt(draft, spec.at('idempotency')),
    ...(prepare === undefined
      ? {}
      : {
          prepare: {
            ...givenReadAt(draft, prepare, 'prepare'),
            fields: prepare
              .at('fields')
              .list()
              .map((field) => preparedFieldAt(draft, field)),
          },
        }),
  };
}

function approvalAt(node: SpecNode, args: ArgumentsSchema): ApprovalRules {
  const calls = node.maybe('calls')?.count(1, limits.approvalCallsMax);
  const reason = node.maybe('reason');
  const because = node.maybeText('because');
  return {
    mode: node.at('mode').choice(['None', 'Session', 'EachCall']),
    expiresAfterMs: expiresAfterAt(node.maybe('expiresAfter')),
    ...(calls === undefined ? {} : { calls }),
    vary: node
      .at('vary')
      .list()
      .map((path) => argumentAt(path, args).path),
    ...(reason === undefined ? {} : { reason: reasonAt(reason, args) }),
    ...(because === undefined ? {} : { because }),
  };
}

function expiresAfterAt(node: SpecNode | undefined): number {
  if (node === undefined) return limits.approvalExpiresMs;
  const ms = node.milliseconds();
  const { approvalExpiresMsMin: least, approvalExpiresMsMax: most } = limits;
  if (!node.report.saidAbout(node.path) && (ms < least || ms > most))
    node.problem('approval-expiry', `${JSON.stringify(node.value)} is not between ${least / 1000} seconds and ${most / 3_600_000} hours.`);
  return ms;
}

function reasonAt(node: SpecNode, args: ArgumentsSchema): readonly string[] {
  const { path, schema } = argumentAt(node, args);
  if (schema !== undefined && schema.type !== 'string') node.problem('approval-reason', 'The reason is no text.');
  return path;
}

/** A list that names an element twice would have the effect twice under one yes. */
function forEachAt(node: SpecNode, args: ArgumentsSchema): NonNullable<EffectRules['forEach']> {
  const place = node.at('argument');
  const { path, schema } = argumentAt(place, args);
  if (schema !== undefined) {
    if (schema.type !== 'array' || schema.maxItems > limits.contractTargetsMax)
      place.problem('for-each', `The argument is no list of at most ${limits.contractTargetsMax} elements.`);
    else if (!schema.uniqueItems) place.problem('for-each', 'The list may name an element twice.', { cure: 'Set uniqueItems: true.' });
    else if (schema.minItems < 1)
      place.problem('for-each', 'The list may be empty, so a person would approve nothing.', { cure: 'Set minItems: 1.' });
  }
  node.at('order').choice(['Sequential']);
  return { argument: path, onFailure: node.at('onFailure').choice(['Stop', 'Continue']) };
}

function evidenceAt(node: SpecNode, args: ArgumentsSchema, approval: ApprovalRules): EvidenceRules {
  const ids = node.at('ids');
  const named = argumentAt(ids, args);
  if (named.schema !== undefined && !isIdLike(named.schema))
    ids.problem('evidence-ids', 'The argument is neither an identifier nor a list of them.');
  else if (named.schema !== undefined && isOptional(named.path, args))
    ids.problem('evidence-ids', 'The argument may be absent, and a call without it would rest on nothing.', { cure: 'Make it required.' });
  const maxAge = node.at('maxAge');
  const maxAgeMs = maxAge.milliseconds();
  const onIncomplete = node.at('onIncomplete').choice(['Refuse', 'RequestReview']);
  // Only where nobody is ever asked is there nothing to outlive.
  const asks = approval.mode !== 'None' || onIncomplete === 'RequestReview';
  if (asks && maxAgeMs > 0 && maxAgeMs < approval.expiresAfterMs + limits.evidenceMarginMsMin)
    maxAge.problem('evidence-age', 'The evidence may expire while a person still reads the card.');
  return {
    from: node.at('from').text(),
    ids: named.path,
    claim: node.at('claim').choice(['Listed', 'Absent']),
    maxAgeMs,
    onIncomplete,
    match: node
      .at('match')
      .list()
      .map((entry) => ({
        evidenceArgument: entry.at('evidenceArgument').text(),
        given: entry.at('argument').present
          ? ({ kind: 'argument', argument: entry.at('argument').text() } as const)
          : ({ kind: 'constant', value: entry.at('constant').value ?? null } as const),
      })),
    proof: node.at('proof').choice(['Checked', 'Declared']),
  };
}

function isOptional(path: readonly string[], args: ArgumentsSchema): boolean {
  return path.some((name, depth) => {
    const parent = schemaAt(path.slice(0, depth), args);
    return parent?.type !== 'object' || !parent.required.includes(name);
  });
}

/** Texts and whole numbers are what identity is made of; free text is words, and a fraction has several spellings. */
function isIdLike(schema: ArgumentSchema): boolean {
  if (schema.type === 'array') return schema.items.type !== 'array' && isIdLike(schema.items);
  return schema.type === 'integer' || (schema.type === 'string' && schema.free === undefined);
}

function preparedFieldAt(draft: Draft, field: SpecNode): PreparedField {
  const after = field.maybe('after');
  return {
    name: field.at('name').text(),
    path: field.at('path').pointer(),
    ...(after === undefined ? {} : { after: templateAt(draft, after, 'words', 'prepare') }),
  };
}

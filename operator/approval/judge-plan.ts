/**
 * Whether what a sidecar says it is about to do is what this operator would say of it: the contract as it is now, arguments by its schema,
 * digests, who asks - and the card, rendered anew. What differs is refused, so that a forged card never becomes an object.
 *
 * The digest of the plan is believed: it covers requests as only the sidecar can make them. What is bound by it is bound by the sidecar's
 * word; what a person reads is not.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Card, renderCard } from '#core/approval/card.ts';
import type { CardFacts, Requester } from '#core/approval/card-facts.ts';
import { decodeCardFacts } from '#core/approval/decode-card-facts.ts';
import { limits } from '#core/bounds/limits.ts';
import { checkArguments } from '#core/contract/arguments.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import { digestOf } from '#core/encoding/canonical.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { CompiledNow } from './compiled-contracts.ts';
import { needsEachUse } from './each-use.ts';
import { isOperationId } from './names.ts';
import { type Refusal, refusal } from './refusal.ts';

/** As it came. */
export interface PlannedOperation {
  readonly operationId: string;
  readonly factsJson: Uint8Array;
  /** Empty where nobody decides on it. */
  readonly cardDigest: string;
}

/** Who asks, from token, pod and session; nothing a sidecar said. */
export interface Asker {
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly session: { readonly name: string; readonly uid: string };
  /** As a card may name it: the newest first, and what was told before an image digest was known. */
  readonly requesters: readonly Requester[];
}

export interface JudgedPlan {
  readonly kind: 'judged';
  readonly facts: CardFacts;
  readonly card: Card;
  readonly compiled: CompiledNow;
}

/** `contractOf`: what is served to that account now. `nowMs`: of the API server. */
export function judgePlan(
  planned: PlannedOperation,
  asker: Asker,
  contractOf: (name: string) => CompiledNow | undefined,
  nowMs: number,
): JudgedPlan | Refusal {
  const facts = factsOf(planned);
  if ('kind' in facts) return facts;
  const compiled = contractOf(facts.contract);
  if (compiled === undefined)
    return refusal(
      'CONTRACT_NOT_READY',
      'not_served',
      'The operator serves no such contract to this ServiceAccount now; list the actions again.',
    );
  const wrong =
    frameProblem(facts, planned, asker) ??
    contractProblem(facts, compiled.contract) ??
    grantProblem(facts, compiled) ??
    timeProblem(facts, compiled.contract, nowMs);
  if (wrong !== undefined) return wrong;
  const card = cardOf(compiled.contract, facts);
  if ('kind' in card) return card;
  if (planned.cardDigest !== '' && card.digest !== planned.cardDigest)
    return refusal(
      'CONTRACT_NOT_READY',
      'card',
      'The card is not the one the operator renders from the same facts; sidecar and operator may be of different releases.',
    );
  return { kind: 'judged', facts, card, compiled };
}

function factsOf({ factsJson }: PlannedOperation): CardFacts | Refusal {
  try {
    return decodeCardFacts(factsJson);
  } catch (thrown) {
    return refusal('INVALID_ARGUMENT', 'malformed', PosternError.from(thrown).message);
  }
}

function cardOf(contract: CompiledContract, facts: CardFacts): Card | Refusal {
  try {
    return renderCard(contract, facts);
  } catch (thrown) {
    const { reason, message } = PosternError.from(thrown);
    return refusal(reason, 'card', message);
  }
}

function frameProblem(facts: CardFacts, { operationId }: PlannedOperation, asker: Asker): Refusal | undefined {
  if (!isOperationId(operationId) || facts.operationId !== operationId || facts.namespace !== asker.namespace)
    return refusal('INVALID_ARGUMENT', 'malformed', 'The facts are of another operation or namespace.');
  if (!asker.requesters.some((requester) => isDeepStrictEqual({ ...facts.requester }, { ...requester })))
    return refusal(
      'CONTROL_STALE',
      'requester',
      'What is known of the pod has changed since the card was made; call again for a new card.',
    );
  return undefined;
}

function contractProblem(facts: CardFacts, contract: CompiledContract): Refusal | undefined {
  if (facts.action !== contract.action || facts.revision !== contract.revision)
    return refusal(
      'CONTRACT_NOT_READY',
      'revision',
      'The operator has another revision of this contract than the sidecar; call again once the sidecar has it.',
    );
  const checked = checkArguments(contract.arguments, facts.args);
  if (checked.kind === 'violations') return refusal('INVALID_ARGUMENT', 'arguments', 'The arguments break the schema of the contract.');
  if (digestOf('arguments', checked.args) !== facts.argsDigest)
    return refusal('INVALID_ARGUMENT', 'arguments', 'The digest of the arguments is not theirs.');
  return undefined;
}

/** One yes covers more calls only as the contract says. */
function grantProblem(facts: CardFacts, compiled: CompiledNow): Refusal | undefined {
  const { grant } = facts;
  if (grant === undefined) return undefined;
  const { contract } = compiled;
  const { mode, calls = 0, vary } = contract.effects.approval;
  const free = vary.map((path) => `/${path.map((name) => name.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`);
  const fits =
    mode === 'Session' &&
    !needsEachUse(compiled, facts) &&
    grant.calls >= 1 &&
    grant.calls <= calls &&
    grant.vary.every((path) => free.includes(path));
  return fits ? undefined : refusal('INVALID_ARGUMENT', 'malformed', 'One approval would cover more calls than the contract allows.');
}

/** By the clock of the API server, whatever that of the node says (APR-11). */
function timeProblem({ askedAtMs, expiresAtMs }: CardFacts, { effects }: CompiledContract, nowMs: number): Refusal | undefined {
  const skewMs = limits.approvalSkewMsMax;
  if (askedAtMs <= nowMs + skewMs && expiresAtMs <= nowMs + skewMs + effects.approval.expiresAfterMs) return undefined;
  const ahead = Math.round((askedAtMs - nowMs) / 1000);
  return refusal('CONTRACT_NOT_READY', 'clock', `The clock of this node is ${ahead} s ahead of that of the API server; set it right.`);
}

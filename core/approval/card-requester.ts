/** Who asks, who answers for the action, and the digests that bind the card. */
import type { CompiledContract } from '#core/contract/compiled.ts';
import type { CardFacts } from './card-facts.ts';
import type { CardText } from './card-text.ts';
import { bareDigest } from './card-values.ts';
import { span, utc } from './utc.ts';

const NAME_CHARS = 256;

export function showRequester(card: CardText, { requester }: CardFacts): void {
  if (requester.kind === 'alone') {
    card.field('asked by', 'whoever can reach this sidecar; it runs without an operator and knows nobody by name');
    return;
  }
  const shown = (subject: string, text: string) => card.value(subject, text, { chars: NAME_CHARS });
  card.field('asked by', `ServiceAccount ${shown('The ServiceAccount', requester.serviceAccount)}`);
  card.field('pod', shown('The name of the pod', requester.pod));
  card.field('made by', requester.controller === '' ? 'no controller: a bare pod' : shown('The controller', requester.controller));
  card.field('image', shown('The image', requester.image));
  card.field('session', shown('The name of the session', requester.session));
}

export function showIdentity(card: CardText, contract: CompiledContract, facts: CardFacts): void {
  const shown = (subject: string, text: string) => card.value(subject, text, { chars: NAME_CHARS });
  const name = shown('The name of the contract', `${facts.namespace}/${facts.contract}`);
  card.field('contract', `${name}, owned by ${shown('The owner', contract.owner)}`);
  card.field('bindings', shown('The names of the bindings', [...contract.credentials].sort().join(', ')));
  card.field('asked at', utc(facts.askedAtMs));
  card.field('expires', `${utc(facts.expiresAtMs)}, ${span(facts.expiresAtMs - facts.askedAtMs)} after asking`);
  card.field('operation', shown('The operation', facts.operationId));
  card.field('revision', shown('The revision', bareDigest(facts.revision)));
  card.field('arguments', shown('The digest of the arguments', bareDigest(facts.argsDigest)));
  card.field('plan', shown('The digest of the plan', bareDigest(facts.planDigest)));
}

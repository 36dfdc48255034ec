/**
 * The card: what a person reads before an effect, and the only thing a yes is about.
 *
 * Pure: contract and facts in, bytes out; no clock, no locale, no time zone but UTC. The sidecar renders it for the one who asks, the
 * operator renders it again from its own contract, and both must come to the same bytes (APR-02, APR-14).
 *
 * One sentence; warnings; what will be sent and to what; why; by whom; then the digests that bind it. Everything fits one screen unless
 * there are many targets (APR-08).
 */
import { limits } from '#core/bounds/limits.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import { renderSentence } from '#core/contract/sentence.ts';
import { type Digest, digestOfBytes } from '#core/encoding/canonical.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { showArguments, showReason } from './card-arguments.ts';
import { showBasis } from './card-basis.ts';
import { showConsequences, showDestination, slotValuesOf } from './card-destination.ts';
import type { CardFacts } from './card-facts.ts';
import { showIdentity, showRequester } from './card-requester.ts';
import { CardText } from './card-text.ts';
import { utc } from './utc.ts';

export interface Card {
  /** Lines of at most 78 columns, at most limits.cardBytesMax bytes, every text sanitized. */
  readonly text: string;
  /** Over the bytes of `text`; what an approver confirms. Not part of the text: whoever shows the card shows it last. */
  readonly digest: Digest;
  /** The card's own warnings, in its order. */
  readonly doubts: readonly string[];
}

/** Code points of one value, tried in this order until the card is small enough; what is cut is a warning. */
const VALUE_CHARS = [600, 200, 64, 32] as const;

/**
 * Throws LIMIT_EXCEEDED where the call cannot be shown within limits.cardBytesMax: what nobody can read, nobody can approve.
 */
export function renderCard(contract: CompiledContract, facts: CardFacts): Card {
  for (const chars of VALUE_CHARS) {
    const card = renderWith(contract, facts, chars);
    if (Buffer.byteLength(card.text, 'utf8') <= limits.cardBytesMax) return card;
  }
  throw new PosternError('LIMIT_EXCEEDED', 'The call is too large to be shown on a card; name fewer targets or shorter values.', {
    details: { limit: 'card_bytes', most: String(limits.cardBytesMax) },
  });
}

function renderWith(contract: CompiledContract, facts: CardFacts, chars: number): Card {
  const card = new CardText();
  const values = slotValuesOf(contract, facts);
  const sentence = card.cut('The sentence', renderSentence(contract.summary, values), SENTENCE_CHARS);
  showStanding(card, facts);
  showDestination(card, contract, values);
  showArguments(card, contract, facts, chars);
  showConsequences(card, contract, facts);
  card.gap();
  showBasis(card, contract, facts, chars);
  showReason(card, contract, facts, chars);
  card.gap();
  showRequester(card, facts);
  card.gap();
  showIdentity(card, contract, facts);
  const text = card.text(sentence);
  return { text, digest: digestOfBytes('card', text), doubts: [...card.doubts] };
}

const SENTENCE_CHARS = 300;

function showStanding(card: CardText, { denied, alternative }: CardFacts): void {
  if (denied !== undefined)
    card.doubt(
      `An equal call was denied at ${utc(denied.atMs)} by ${card.value('The name of the approver', denied.approver, { chars: 64 })}, says the sidecar.`,
    );
  if (alternative !== undefined)
    card.doubt(
      `This is the choice "${alternative.name}" beside the question ${visibleText(alternative.of, { chars: 64 })}; a yes to it is a no to that one.`,
    );
}

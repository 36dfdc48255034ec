/** The card of a question and those of its alternatives: the same text whether a sidecar's socket or an API server has them. */
import { visibleText } from '#core/encoding/visible-text.ts';
import { UsageError } from './report-failure.ts';
import { showCard } from './show-card.ts';

interface Card {
  readonly card: string;
  readonly cardDigest: string;
}

export interface QuestionCards extends Card {
  readonly alternatives?: readonly (Card & { readonly name: string })[];
}

export function renderCard({ card, cardDigest }: Card): string {
  return `${showCard(card)}\n  card        ${visibleText(cardDigest)}`;
}

/** All of them, below the name of the question. */
export function renderCards(name: string, cards: QuestionCards): string {
  const lines = [visibleText(name), renderCard(cards)];
  for (const alternative of cards.alternatives ?? [])
    lines.push('', `Or --alternative ${visibleText(alternative.name)}:`, renderCard(alternative));
  return lines.join('\n');
}

/** The one that is decided on. Throws UsageError. */
export function chosenCard(cards: QuestionCards, alternative: string | undefined): Card {
  if (alternative === undefined) return cards;
  const others = cards.alternatives ?? [];
  const chosen = others.find(({ name }) => name === alternative);
  if (chosen !== undefined) return chosen;
  throw new UsageError(
    `the card has no alternative ${visibleText(alternative)}`,
    others.length === 0
      ? 'It has none: leave --alternative out.'
      : `Choose one of: ${others.map(({ name }) => visibleText(name)).join(', ')}.`,
  );
}

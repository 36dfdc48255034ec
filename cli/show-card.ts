/** A card on a terminal: the layout it came with, every word through the one sanitizer once more (APR-09). */
import { visibleText } from '#core/encoding/visible-text.ts';

/**
 * Lines and the blanks of columns stay: the card's own renderer counted whatever padding a value had. Anything else a person could not see - from
 * a sidecar of another release, or from whoever wrote the state folder - is shown as its code point.
 */
export function showCard(card: string): string {
  return card
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/[^ ]+| {17,}/g, (part) => visibleText(part)))
    .join('\n');
}

/** What a card is about: its first line. */
export function cardTitle(card: string): string {
  return visibleText(card.split('\n', 1)[0] ?? '');
}

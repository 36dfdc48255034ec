/** What about a text may mislead whoever reads it, beyond what the sanitizer can show: said on the card, before all fields. */
import { isPlainlyVisible } from '#core/encoding/visible-text.ts';

/** Ends of sentences that begin with what the text is; none for a text that is what it looks like. */
export function doubtsOf(text: string, { lines = false }: { readonly lines?: boolean } = {}): readonly string[] {
  const looked = lines ? text.replaceAll('\n', ' ') : text;
  const found: string[] = [];
  if (!isPlainlyVisible(looked)) found.push('holds characters that cannot be seen; they are shown as <U+...> or counted.');
  if (RIGHT_TO_LEFT.test(text)) found.push('holds right-to-left letters; a screen may show it in another order than it is.');
  if (MARKUP.test(text)) found.push('holds markup, or text like our own marks; it is shown as the text it is.');
  if (SECRET_SHAPED.test(text)) found.push('looks like a credential; whoever may read this card can read it.');
  return found;
}

/** Letters whose lines run the other way, and reorder what stands beside them. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** HTML, Markdown links and code, chat mentions; and what reads like an escape or a count of the sanitizer. */
const MARKUP = /<[/!@#?]?[A-Za-z]|<[0-9]+ more>|characters cut\)|\]\(|```|\*\*|&#?[A-Za-z0-9]+;/;
/** Forms that services give their tokens; and the canaries of tests for such. */
const SECRET_SHAPED =
  /\b(?:gh[opsur]_[A-Za-z0-9]{20}|github_pat_|glpat-|sk_live_|rk_live_|xox[abpr]-|AKIA[0-9A-Z]{12}|AIza[0-9A-Za-z_-]{20}|eyJ[A-Za-z0-9_-]{10,}\.)|-----BEGIN |\b[A-Z]+-CANARY-[0-9]+\b/;

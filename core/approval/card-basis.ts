/** What a card says the effect rests on: evidence, what was read before, doubtful reads of the session, other choices. All the sidecar's word. */
import { limits } from '#core/bounds/limits.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { AlternativeName, CardFacts, EvidenceFacts } from './card-facts.ts';
import type { CardText } from './card-text.ts';
import { elementText } from './card-values.ts';
import { span, utc } from './utc.ts';

const NAME_CHARS = 64;
const LACK_CHARS = 200;

export function showBasis(card: CardText, contract: CompiledContract, facts: CardFacts, chars: number): void {
  const name = (text: string) => visibleText(elementText(text), { chars: NAME_CHARS });
  const valueChars = Math.min(chars, 200);
  for (const { name: field, before, after } of (facts.before ?? []).slice(0, limits.cardFieldsMax)) {
    const subject = `What was read of ${name(field)}`;
    const then = after === undefined ? '' : ` -> ${card.value(`What ${name(field)} becomes`, elementText(after), { chars: valueChars })}`;
    card.field('change', `${name(field)}: ${card.value(subject, elementText(before), { chars: valueChars })}${then} (read by the sidecar)`);
  }
  const asked = contract.effects.evidence;
  if (facts.evidence !== undefined) showEvidence(card, facts.evidence, facts.askedAtMs);
  else if (asked !== undefined) card.doubt(`The contract asks for evidence from ${name(asked.from)}, and none was shown.`);
  showReads(card, facts);
  if (facts.choices !== undefined && facts.choices.length > 0)
    card.field('or choose', facts.choices.map((choice) => `${choice} (${CHOICES[choice]})`).join('; '));
}

/** What each choice means, for cards and command lines. */
export const CHOICES: Readonly<Record<AlternativeName, string>> = {
  'retry-longer': 'read again with more time before anything is done',
  'listed-only': 'only the targets that the evidence lists',
};

function showEvidence(card: CardText, evidence: EvidenceFacts, askedAtMs: number): void {
  const action = card.value('The name of the evidence', elementText(evidence.action), { chars: NAME_CHARS });
  const age = `${span(askedAtMs - evidence.atMs)} before asking`;
  const whole = evidence.complete ? 'complete' : 'NOT COMPLETE';
  card.field('evidence', `${action}: ${whole}, ${evidence.items} items, ${age}, ${PROOFS[evidence.proof]} (says the sidecar)`);
  for (const lack of evidence.lacks.slice(0, limits.cardLacksMax))
    card.doubt(`Evidence: ${card.value('What the evidence lacks', lack, { chars: LACK_CHARS })}`);
  if (!evidence.complete && evidence.lacks.length === 0) card.doubt('Evidence: the answer is not all, and nobody says why.');
}

const PROOFS: Readonly<Record<EvidenceFacts['proof'], string>> = {
  Checked: 'pages proven to belong together',
  Declared: 'pages belong together by the word of the contract',
  Unproven: 'nothing proves that its pages belong together',
};

function showReads(card: CardText, { reads }: CardFacts): void {
  if (reads.length === 0) return;
  const shown = reads.slice(0, limits.cardReadsMax);
  const texts = shown.map(({ action, atMs, codes }) => {
    const list = codes.slice(0, CODES_SHOWN_MAX).map((code) => card.value('A code of a read', elementText(code), { chars: NAME_CHARS }));
    if (codes.length > list.length) list.push(`and ${codes.length - list.length} more`);
    return `${card.value('The name of a read', elementText(action), { chars: NAME_CHARS })} at ${utc(atMs)}: ${list.join(', ')}`;
  });
  card.doubt(
    `${reads.length === 1 ? 'A read' : `${reads.length} reads`} of this session since its last approval gave less than all, or with a warning.`,
  );
  for (const [index, text] of texts.entries()) card.field(index === 0 ? 'its reads' : '', text);
}

const CODES_SHOWN_MAX = 4;

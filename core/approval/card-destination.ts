/** What a card says about the way of an effect: where it goes, with which credential, and what a lost reply would mean. */
import type { CompiledContract, Slot, Template } from '#core/contract/compiled.ts';
import type { IdempotencyRules } from '#core/contract/effect-rules.ts';
import { isMisfit, strictEncoders } from '#core/contract/encode.ts';
import { type SlotValues, slotValue } from '#core/contract/slot-value.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { CardFacts } from './card-facts.ts';
import type { CardText } from './card-text.ts';
import { aloneText, elementText } from './card-values.ts';
import { span, utc } from './utc.ts';

/** Longest destination; a path longer than that is an argument's doing, and the argument has its own line. */
const DESTINATION_CHARS = 400;

/** The values a card may fill in: what the agent gave and what the contract fixed, nothing of a remote. */
export function slotValuesOf(contract: CompiledContract, facts: CardFacts): SlotValues {
  const { resolve, constants } = contract;
  const none = {};
  return {
    args: facts.args,
    resolve,
    constants,
    next: none,
    open: none,
    source: none,
    limits: none,
    budget: none,
    operation: { id: facts.operationId },
  };
}

/** Effect, destination and credential: the first thing to look at. */
export function showDestination(card: CardText, contract: CompiledContract, values: SlotValues): void {
  const { target, effects, effect } = contract;
  const each =
    effects.forEach === undefined
      ? ''
      : `, one request for each element of ${visibleText(effects.forEach.argument.join('/'), { chars: 64 })}`;
  card.field('effect', `${EFFECTS[effect]}${each}`);
  const chars = DESTINATION_CHARS;
  if (target.kind === 'http') {
    const { method, origin, segments } = target.request;
    if (origin.startsWith('http://')) card.doubt('The request and its credential cross the network in plain text.');
    card.field(
      'sends',
      card.cut('The destination', `${method} ${origin}/${segments.map((part) => filled(part, values, segmentText)).join('/')}`, chars),
    );
    card.field('credential', card.cut('The name of the credential', filled(target.credential, values, aloneText), chars));
  } else {
    const argv = target.argv.map((part) => elementText(filled(part, values, aloneText))).join(' ');
    card.field('runs', card.cut('The command', argv, chars));
    card.field('on host', card.cut('The host', filled(target.host, values, aloneText), chars));
    card.field('credential', card.cut('The name of the credential', target.credential, chars));
  }
}

const EFFECTS = { Read: 'Read', Write: 'Write', Destructive: 'DESTRUCTIVE' } as const;

function filled(template: Template, values: SlotValues, show: (value: JsonValue) => string): string {
  return template.map((part) => (typeof part === 'string' ? part : slotText(part, values, show))).join('');
}

/** What is only known when it is sent stands as `{each}`, `{operation.key}`. */
function slotText(slot: Slot, values: SlotValues, show: (value: JsonValue) => string): string {
  const value = slotValue(slot, values);
  if (value === undefined) return `{${[slot.root, ...slot.path].join('.')}}`;
  return Array.isArray(value) ? value.map(show).join(slot.spread === true ? '/' : ',') : show(value);
}

/** As it stands in the path that is sent. */
function segmentText(value: JsonValue): string {
  const text = aloneText(value);
  const encoded = strictEncoders.segment(text);
  return isMisfit(encoded) ? text : encoded;
}

/** What one yes covers, what happens when no reply comes, whether it can be taken back. */
export function showConsequences(card: CardText, contract: CompiledContract, facts: CardFacts): void {
  const { effects, effect } = contract;
  card.field('covers', coverage(facts));
  if (effects.recheck !== undefined)
    card.field('checked', `read again with ${visibleText(effects.recheck.contract)} right before; what no longer fits is not touched`);
  if (effects.forEach !== undefined)
    card.field('on failure', effects.forEach.onFailure === 'Stop' ? 'stops; the rest stays untouched' : 'goes on with the next element');
  if (effect === 'Read') return;
  card.field('lost reply', lostReply(effects.idempotency));
  card.field('undo', effect === 'Destructive' ? 'none: the contract calls it destructive' : 'the contract names no way back');
}

function coverage({ grant, expiresAtMs }: CardFacts): string {
  if (grant === undefined) return 'this one operation, once';
  const vary = grant.vary.map((path) => visibleText(path.replace(/^\//, ''), { chars: 64 }));
  const calls = grant.calls === 1 ? '1 call' : `${grant.calls} calls`;
  const free = vary.length === 0 ? 'with exactly these arguments' : `with any ${vary.join(', any ')}; every other argument as shown`;
  return `up to ${calls} until ${utc(expiresAtMs)}, ${free}`;
}

function lostReply({ mode, ttlMs, settle }: IdempotencyRules): string {
  const finds = settle === undefined ? 'a person must find out' : `Postern reads ${visibleText(settle.contract)} to find out`;
  switch (mode) {
    case 'Natural':
      return 'harmless to send again: twice has the effect of once';
    case 'Key':
      return `the remote tells a repetition by its key for ${span(ttlMs ?? 0)}; after that ${finds}`;
    case 'None':
      return `nobody knows whether it happened; equal calls wait until ${settle === undefined ? 'a person says so' : `known: ${finds}`}`;
  }
}

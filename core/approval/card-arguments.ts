/**
 * Targets and arguments on a card: what decides where the effect lands first, every target listed, the agent's reason marked as its own
 * words (APR-07, APR-08).
 */
import { limits } from '#core/bounds/limits.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import type { ArgumentPath } from '#core/contract/effect-rules.ts';
import type { ArgumentSchema } from '#core/contract/schema.ts';
import { digestOf } from '#core/encoding/canonical.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { CardFacts } from './card-facts.ts';
import type { CardText } from './card-text.ts';
import { aloneText, argumentAt, bareDigest, elementText } from './card-values.ts';
import { decidingArguments, destinationSlots } from './deciding-arguments.ts';

/** Targets, then the other arguments: first those the destination is made of, then by name. */
export function showArguments(card: CardText, contract: CompiledContract, facts: CardFacts, chars: number): void {
  const targets = contract.effects.forEach?.argument ?? contract.effects.evidence?.ids;
  const reason = contract.effects.approval.reason;
  if (targets !== undefined) showTargets(card, contract, facts, targets, chars);
  for (const name of argumentOrder(contract, facts)) {
    if (isWhole(targets, name) || isWhole(reason, name)) continue;
    showArgument(card, contract, facts, name, chars);
  }
}

export function showReason(card: CardText, { effects }: CompiledContract, facts: CardFacts, chars: number): void {
  const path = effects.approval.reason;
  if (path === undefined) return;
  const value = argumentAt(facts.args, path);
  if (value === undefined) card.field('reason', '(the agent gave none)');
  else card.field('agent says', `unchecked: "${card.value('The reason', aloneText(value), { chars, lines: true })}"`);
}

function showTargets(card: CardText, contract: CompiledContract, facts: CardFacts, path: ArgumentPath, chars: number): void {
  const given = argumentAt(facts.args, path);
  if (given === undefined) return;
  const values = Array.isArray(given) ? (given as readonly JsonValue[]) : [given];
  const subject = `An element of ${visibleText(path.join('/'), { chars: 64 })}`;
  const shown = values.slice(0, limits.cardTargetsMax).map((value) => {
    const real = path.length === 1 ? realTarget(contract, path[0] ?? '', value) : '';
    return card.value(subject, elementText(value), { chars: Math.min(chars, TARGET_CHARS) }) + real;
  });
  const more = values.length - shown.length;
  if (more > 0) card.doubt(`${more} of ${values.length} targets are not listed; the digest covers all of them.`);
  card.field('targets', `${values.length}: ${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}`);
  if (values.length > 1) card.field('all of them', bareDigest(digestOf('ids', values)));
}

const TARGET_CHARS = 128;

function showArgument(card: CardText, contract: CompiledContract, facts: CardFacts, name: string, chars: number): void {
  const value = Object.hasOwn(facts.args, name) ? facts.args[name] : undefined;
  if (value === undefined) return;
  const schema = Object.hasOwn(contract.arguments.properties, name) ? contract.arguments.properties[name] : undefined;
  const title = visibleText(name, { chars: 64 });
  const shown = Array.isArray(value)
    ? `${value.length}: ${value.slice(0, limits.cardTargetsMax).map(elementText).join(', ')}`
    : aloneText(value);
  if (Array.isArray(value) && value.length > limits.cardTargetsMax)
    card.doubt(`${value.length - limits.cardTargetsMax} elements of ${title} are not listed; the digest of the arguments covers them.`);
  const text = card.value(`The argument ${title}`, shown, { chars, lines: takesLines(schema) });
  card.field('argument', `${title}: ${text}${Array.isArray(value) ? '' : realTarget(contract, name, value)}`);
}

/** `checkout-prod/api (namespace/name)`: the values a label stands for, those of the destination first. Contract's own, not the agent's. */
function realTarget(contract: CompiledContract, argument: string, label: JsonValue): string {
  const table = Object.hasOwn(contract.resolve, argument) ? contract.resolve[argument] : undefined;
  if (typeof label === 'object') return '';
  const key = String(label);
  const members = table !== undefined && Object.hasOwn(table, key) ? table[key] : undefined;
  if (members === undefined) return '';
  const used = destinationSlots(contract)
    .filter(({ root, path }) => root === 'resolve' && path[0] === argument)
    .map(({ path }) => path[1] ?? '');
  const names = [...new Set([...used, ...Object.keys(members).sort()])].filter((name) => Object.hasOwn(members, name));
  const values = names.map((name) => elementText(members[name] ?? null)).join('/');
  return ` = ${visibleText(values, { chars: 256 })} (${visibleText(names.join('/'), { chars: 128 })})`;
}

/** Names in an order that both renderers find: the order of keys in an object of the API server is not that of the file. */
function argumentOrder(contract: CompiledContract, facts: CardFacts): readonly string[] {
  const deciding = decidingArguments(contract);
  const rank = (name: string) => (deciding.has(name) ? 0 : 1);
  return Object.keys(facts.args)
    .sort()
    .sort((one, other) => rank(one) - rank(other));
}

function isWhole(path: ArgumentPath | undefined, name: string): boolean {
  return path !== undefined && path.length === 1 && path[0] === name;
}

function takesLines(schema: ArgumentSchema | undefined): boolean {
  return schema?.type === 'string' && schema.free !== undefined && schema.free.lines > 1;
}

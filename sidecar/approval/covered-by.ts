/** Whether a yes covers what is about to be sent, judged again right before the first byte (APR-01, APR-03). */
import type { CardFacts } from '#core/approval/card-facts.ts';
import { digestOf } from '#core/encoding/canonical.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import type { Decision, Intent, Question } from './decider.ts';

/** Undefined: covered. Otherwise why not, in own words. `uses`: operations admitted under it before; the same one may come again. */
export function coveredBy(
  question: Question,
  decision: Decision & { verdict: 'approved' },
  uses: readonly string[],
  intent: Intent,
): string | undefined {
  const chosen = decision.alternative === undefined ? question : question.alternatives.find(({ name }) => name === decision.alternative);
  if (chosen === undefined || chosen.cardDigest !== decision.cardDigest) return 'The approval is for a card that is not here.';
  const { facts } = chosen;
  if (facts.contract !== intent.contract || facts.revision !== intent.revision)
    return 'The approval is for another contract, or for this one before it was changed.';
  const again = uses.includes(intent.operationId);
  if (facts.grant !== undefined) {
    if (!again && uses.length >= facts.grant.calls) return 'The approval is used up; call again for a new one.';
    return sameFixed(facts, intent.facts, facts.grant.vary) ? undefined : 'The approval fixes arguments that this call changes.';
  }
  if (chosen.operationId !== intent.operationId || facts.planDigest !== intent.planDigest || facts.argsDigest !== intent.argsDigest)
    return 'The approval is for another call.';
  return uses.length === 0 || again ? undefined : 'The approval was used already.';
}

/** Every argument but those the card names as free is the one of the card. */
function sameFixed(seen: CardFacts, now: CardFacts, vary: readonly string[]): boolean {
  const fixed = ({ args }: CardFacts) => digestOf('arguments', without(args, vary.map(namesOf)));
  return fixed(seen) === fixed(now);
}

/** `/a/b` as the names it is made of (RFC 6901). */
function namesOf(path: string): readonly string[] {
  return path
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function without(value: JsonValue, paths: readonly (readonly string[])[]): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const gone = new Set(paths.filter(({ length }) => length === 1).map(([name]) => name));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !gone.has(name))
      .map(([name, member]) => [
        name,
        without(
          member,
          paths.filter(([first]) => first === name).map(([, ...rest]) => rest),
        ),
      ]),
  );
}

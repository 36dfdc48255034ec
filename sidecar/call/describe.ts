/**
 * ListActions: what an agent may know before it calls. Never a destination, a credential or a resolved value.
 */
import type { CompiledContract } from '#core/contract/compiled.ts';
import { describeSchema } from '#core/contract/schema.ts';
import { describeSentence } from '#core/contract/sentence.ts';
import type { ActionDescription } from './calls.ts';

/** `refused`: why it cannot be called now whatever the contract says of its readiness. */
export function describeAction(contract: CompiledContract, refused?: string): ActionDescription {
  const { result, completeness } = contract;
  const own = completeness.limits;
  return {
    action: contract.action,
    summary: describeSentence(contract.summary),
    owner: contract.owner,
    effect: contract.effect,
    ready: contract.notReady === undefined && refused === undefined,
    notReady: refused ?? contract.notReady ?? '',
    argumentsSchema: describeSchema(contract.arguments),
    result: {
      as: result.as,
      shape: result.aggregate !== undefined ? 'aggregate' : result.shape.kind,
      fields: result.fields === 'All' ? [] : result.fields.map(({ name, presence }) => ({ name, presence })),
      allFields: result.fields === 'All',
    },
    approval: contract.effects.approval.mode,
    best: contract.best,
    absence: completeness.scope?.absence === 'Provable' ? 'provable' : 'never',
    exclusions: completeness.scope?.exclusions ?? [],
    limits: { pages: own.pages, items: own.items, bytes: own.bytes, timeMs: own.timeMs },
    evidenceFrom: contract.effects.evidence?.from.replaceAll('-', '_') ?? '',
    revision: contract.revision,
  };
}

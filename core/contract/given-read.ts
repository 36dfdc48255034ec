/** What a contract says about a read that Postern makes for it. */
import { jsonAt } from './compile-request.ts';
import type { Draft, Stage } from './draft.ts';
import type { GivenRead } from './effect-rules.ts';
import type { SpecNode } from './spec-node.ts';

/** `contract` and `arguments` of another contract's read. */
export function givenReadAt(draft: Draft, node: SpecNode, stage: Stage): GivenRead {
  return {
    contract: node.at('contract').text(),
    arguments: node
      .at('arguments')
      .entries()
      .map(([name, value]) => [name, jsonAt(draft, value, stage)] as const),
  };
}

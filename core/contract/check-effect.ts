/** Which effect may have which blocks, and what a risky one owes (design section 3). */
import { isObject } from '#core/completeness/path.ts';
import { checkRange } from './check-range.ts';
import type { CompiledContract } from './compiled.ts';
import type { Draft } from './draft.ts';
import { plainText } from './plain-text.ts';

export function checkEffect(draft: Draft, contract: Pick<CompiledContract, 'effect' | 'effects' | 'target'>): void {
  const { spec } = draft;
  if (contract.effect === 'Read') checkRead(draft, contract);
  else checkWrite(draft, contract);
  checkRange(draft, contract.effects);
  const mode = spec.at('idempotency').at('mode').value;
  const safeForSessions = contract.effect === 'Read' || (contract.effect === 'Write' && mode !== 'None');
  if (contract.effects.approval.mode === 'Session' && !safeForSessions) {
    spec
      .at('approval')
      .at('mode')
      .problem('effect-session', `A ${contract.effect} with idempotency ${plainText(mode)} is not approved per session.`);
  }
}

const WRITE_BLOCKS = ['forEach', 'evidence', 'recheck', 'prepare'] as const;

function checkRead(draft: Draft, contract: Pick<CompiledContract, 'target'>): void {
  for (const name of WRITE_BLOCKS) {
    const block = draft.spec.maybe(name);
    block?.problem('effect-block', `${name} belongs to Write and Destructive.`);
  }
  const idempotency = draft.spec.at('idempotency');
  if (idempotency.at('mode').value !== 'None' || idempotency.at('settle').present)
    idempotency.problem('effect-block', 'A Read changes nothing, so idempotency says nothing about it.');
  if ((draft.spec.maybeText('readOnlyBecause') ?? '').trim() !== '') return;
  const { target } = contract;
  // No method says that a command only reads, so its owner does (design section 10).
  if (target.kind === 'ssh') draft.spec.at('ssh').problem('method-read-only', 'A Read over SSH has no readOnlyBecause.');
  else if (!['GET', 'HEAD'].includes(target.request.method)) {
    draft.spec.at('http').at('method').problem('method-read-only', `A Read with ${target.request.method} has no readOnlyBecause.`);
  }
}

/** A write answers one object: only notices and waits say something about it (contract language, section 5, point 26). */
const READ_BLOCKS = ['paging', 'consistency', 'required', 'signals', 'totals', 'reach', 'cursor', 'job', 'freshness', 'sources'] as const;

function checkWrite(draft: Draft, contract: Pick<CompiledContract, 'effects'>): void {
  checkWriteBlocks(draft);
  const { spec } = draft;
  const approval = spec.at('approval');
  const reason = (approval.maybeText('because') ?? '').trim();
  const { approval: compiled, evidence } = contract.effects;
  if (reason !== '') return;
  if (spec.at('idempotency').at('mode').value === 'None' && compiled.mode !== 'EachCall') {
    approval.problem('effect-approval', 'A call that may take effect twice is approved by nobody, and nothing says why.');
  } else if (compiled.mode === 'None') {
    const absent = evidence?.claim === 'Absent' ? 'An effect on what is absent' : undefined;
    const what = spec.at('effect').value === 'Destructive' ? 'A Destructive' : absent;
    if (what !== undefined) approval.at('mode').problem('effect-because', `${what} without approval needs a because.`);
  }
}

function checkWriteBlocks({ spec, object }: Draft): void {
  const written = isObject(object.spec.completeness) ? object.spec.completeness : {};
  for (const name of READ_BLOCKS) {
    if (Object.hasOwn(written, name)) spec.at('completeness').at(name).problem('effect-block', `${name} belongs to Read.`);
  }
  // They surround a walk. What a plan shows must be all that is sent, and what `open` would answer is not known when a person is asked.
  for (const name of ['open', 'next', 'close']) spec.at('http').maybe(name)?.problem('effect-block', `http.${name} belongs to Read.`);
  spec.maybe('readOnlyBecause')?.problem('effect-block', 'readOnlyBecause belongs to Read.');
}

/** Operations and plans for a person: where it stands, what became of each target, what to do next. Every text through the one sanitizer. */
import { visibleText } from '#core/encoding/visible-text.ts';
import type { OperationDocument, planDocument } from '#core/wire/operation-document.ts';
import type { StepDocument } from '#core/wire/step-document.ts';
import { showCard } from './show-card.ts';

const STEPS_SHOWN = 100;

/** `repeat` is the command line that asks the same sidecar. */
export type Repeat = (command: string) => string;

export function renderPlan(plan: ReturnType<typeof planDocument>, repeat: Repeat): string {
  const lines = [showCard(plan.card), cardLine(plan.card_digest)];
  for (const { name, plan_id, card, card_digest } of plan.alternatives)
    lines.push('', `Or ${visibleText(name)} (operation ${visibleText(plan_id)}):`, showCard(card), cardLine(card_digest));
  lines.push('', `Nothing was sent. The plan is kept until ${visibleText(plan.expires_at)}.`);
  const { approval } = plan;
  if (approval !== undefined && approval.state === 'waiting')
    lines.push(`A person must agree: ${askPerson(approval.name ?? '')}`, `  then: ${repeat(`call --confirm ${plan.plan_id}`)}`);
  else lines.push(`  to run it: ${repeat(`call --confirm ${plan.plan_id}`)}`);
  return lines.join('\n');
}

/** The last field of a card, in its columns. */
export function cardLine(digest: string): string {
  return `  card        ${visibleText(digest)}`;
}

/** Whom to ask, and how that person answers: alone by the socket, in a cluster by the plugin. */
export function askPerson(question: string): string {
  const name = visibleText(question);
  return `somebody else runs "postern approve ${name}", in a cluster "kubectl postern approve ${name}"`;
}

export function renderOperation(operation: OperationDocument, repeat: Repeat): string {
  const { state, action, approval, error, resolution } = operation;
  const lines = [`${visibleText(operation.operation_id)}  ${visibleText(action)}  ${STATES[state] ?? state}`];
  if (error !== undefined) lines.push(`  ${visibleText(error.code)}: ${visibleText(error.message)}`);
  if (approval !== undefined && approval.state !== 'not_needed')
    lines.push(`  approval ${visibleText(approval.name ?? '')}: ${approval.state}${until(approval.expires_at)}`);
  if (resolution !== undefined)
    lines.push(
      `  found out at ${visibleText(resolution.resolved_at)} by ${visibleText(resolution.by)}: ${resolution.done ? 'done' : 'not done'}`,
    );
  lines.push(...renderSteps(operation.steps ?? []));
  lines.push(...nextLines(operation, repeat).map((line) => `  ${line}`));
  if (operation.card !== undefined) lines.push('', showCard(operation.card), cardLine(operation.card_digest ?? ''));
  return lines.join('\n');
}

const STATES: Readonly<Record<string, string>> = {
  planned: 'planned: nothing was sent',
  running: 'running',
  done: 'done',
  failed: 'failed',
  unknown: 'UNKNOWN: it was sent, and nobody knows whether it took effect',
};

/** What became of the targets, counted, then those that are not done. */
export function renderSteps(steps: readonly StepDocument[]): string[] {
  if (steps.length === 0 || (steps.length === 1 && steps[0]?.element === undefined)) return [];
  const counts = new Map<string, number>();
  for (const { state } of steps) counts.set(state, (counts.get(state) ?? 0) + 1);
  const lines = [`  targets: ${[...counts].map(([state, count]) => `${count} ${state}`).join(', ')}`];
  const others = steps.filter(({ state }) => state !== 'done');
  for (const { element, index, state, error } of others.slice(0, STEPS_SHOWN)) {
    const name = visibleText(element === undefined ? String(index) : JSON.stringify(element), { chars: 128 });
    lines.push(`    ${name}: ${state}${error === undefined ? '' : `, ${visibleText(error.code)}: ${visibleText(error.message)}`}`);
  }
  if (others.length > STEPS_SHOWN) lines.push(`    ... ${others.length - STEPS_SHOWN} more; -o json prints all`);
  return lines;
}

function nextLines({ state, operation_id, approval }: OperationDocument, repeat: Repeat): string[] {
  const waits = state === 'planned' && approval?.state === 'waiting';
  if (waits) return [`waits: ${askPerson(approval.name ?? '')}`];
  if (state === 'planned' && approval?.state === 'approved')
    return [`to run it: ${repeat(`call --confirm ${approval.chosen_plan_id ?? operation_id}`)}`];
  if (state === 'running') return [`to wait for it: ${repeat(`operation ${operation_id} --wait`)}`];
  if (state === 'unknown') return unknownNext(operation_id, repeat);
  return [];
}

/** What to do about an outcome nobody knows: never simply again. */
export function unknownNext(operationId: string, repeat: Repeat): string[] {
  const id = visibleText(operationId);
  return [
    'do not call it again as a new operation: it may have taken effect',
    `look again: ${repeat(`operation ${id} --wait`)}`,
    `where the remote shows it, somebody else runs "postern resolve ${id} --done" or "--not-done"`,
  ];
}

function until(time: string | undefined): string {
  return time === undefined ? '' : ` (until ${visibleText(time)})`;
}

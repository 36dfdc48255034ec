/** What to do about a call that did not go through, and the exit code that says so to a program. */
import { visibleText } from '#core/encoding/visible-text.ts';
import type { PosternError } from '#core/error/postern-error.ts';
import { EXIT } from './exit.ts';
import { askPerson, cardLine, type Repeat, unknownNext } from './render-operation.ts';
import { showCard } from './show-card.ts';

export function exitCodeOf({ reason }: PosternError): number {
  if (reason === 'APPROVAL_REQUIRED') return EXIT.approval;
  return reason === 'OUTCOME_UNKNOWN' ? EXIT.unknown : EXIT.error;
}

/** Lines to print after the error itself; none where the error says all. */
export function explainRefusal(error: PosternError, repeat: Repeat): readonly string[] {
  const { operationId, operation, details } = error;
  switch (error.reason) {
    case 'APPROVAL_REQUIRED':
      return approvalLines(error, repeat);
    case 'OUTCOME_UNKNOWN':
      return [...targetLines(error), ...(operationId === undefined ? [] : unknownNext(operationId, repeat).map((line) => `  ${line}`))];
    case 'APPROVAL_DENIED':
      return details.because === undefined ? [] : [`  because: ${visibleText(details.because)}`];
    case 'APPROVAL_EXPIRED':
      return ['  call again without --operation for a new card; the old one works no more'];
    case 'EVIDENCE_REQUIRED':
    case 'EVIDENCE_EXPIRED':
    case 'EVIDENCE_INCOMPLETE':
      return ['  "postern actions" names the read; give its answer with --evidence FILE (call it with -o json > FILE)'];
    case 'IDEMPOTENCY_CONFLICT':
      return ['  leave out --operation to make a new operation of these arguments'];
    default:
      return operation?.targets === undefined && details.held_by === undefined ? [] : targetLines(error);
  }
}

function approvalLines({ operationId = '', operation }: PosternError, repeat: Repeat): string[] {
  const id = visibleText(operationId);
  const card = operation?.card === undefined ? [] : ['', showCard(operation.card), cardLine(operation.cardDigest ?? ''), ''];
  const until = operation?.expiresAt === undefined ? '' : ` until ${visibleText(operation.expiresAt)}`;
  return [
    ...card,
    `  tell your user: this waits for a person${until}; ${askPerson(operation?.approval ?? '')}`,
    `  then it runs with: ${repeat(`call --confirm ${id}`)}`,
    `  or wait and run it: ${repeat(`call --confirm ${id} --wait`)}`,
  ];
}

function targetLines({ operation }: PosternError): string[] {
  const targets = operation?.targets;
  if (targets === undefined) return [];
  const { done, refused, untouched, unknown } = targets;
  return [`  targets: ${done} done, ${refused} refused, ${untouched} untouched, ${unknown} unknown; "postern operation" names them`];
}

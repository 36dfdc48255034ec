/** What an Event says of an approval. The sentence of the card was sanitized where it was rendered; the teller does it again (APR-09). */
import { limits } from '#core/bounds/limits.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { Telling } from '#operator/kube/events.ts';
import type { ApprovalRecord } from '#operator/kube/records.ts';
import { isQuestion } from './standing.ts';
import type { State } from './step.ts';

/** `Forgotten`: a hold that is about to expire. */
export function tellingOf(state: State | 'Forgotten', approval: ApprovalRecord): Telling {
  const action = isQuestion(approval) ? 'Approve' : 'Resolve';
  return { action, ...words(state, approval) };
}

function words(state: State | 'Forgotten', { name, namespace, sentence, spec, status }: ApprovalRecord): Omit<Telling, 'action'> {
  const what = visibleText(sentence, { chars: limits.eventNoteCharsMax / 2 });
  const by = visibleText(status?.decision?.approver ?? 'nobody', { chars: 100 });
  const normal = (reason: string, note: string) => ({ type: 'Normal', reason, note }) as const;
  const warning = (reason: string, note: string) => ({ type: 'Warning', reason, note }) as const;
  switch (state) {
    case 'Waiting':
      return spec.purpose === 'Call'
        ? normal(
            'ApprovalWaiting',
            `Waits for a person until ${spec.expiresAt}: ${what}. See: kubectl postern approvals ${name} -n ${namespace}`,
          )
        : warning(
            'OutcomeUnknown',
            `Sent, and nobody knows whether it happened: ${what}. Find out, then: kubectl postern resolve ${spec.operationId ?? name} -n ${namespace}`,
          );
    case 'Approved':
      return normal('ApprovalApproved', `Approved by ${by}: ${what}`);
    case 'Denied':
      return normal('ApprovalDenied', `Denied by ${by}: ${what}`);
    case 'Used':
      return normal('ApprovalUsed', `Approved by ${by}, and used: ${what}`);
    case 'Expired':
      return warning(
        'ApprovalExpired',
        spec.purpose === 'Call'
          ? `Nobody used it in time: ${what}`
          : `Nobody found out whether it happened, and equal calls are possible again: ${what}`,
      );
    case 'Voided':
      return warning('ApprovalVoided', `What was asked is not so any more: ${what}`);
    case 'Resolved':
      return normal('OutcomeResolved', `${status?.decision?.verdict === 'Done' ? 'Done' : 'Not done'}, says ${by}: ${what}`);
    case 'UnderWay':
      return normal('EffectUnderWay', `Under way: ${what}`);
    case 'Forgotten':
      return warning(
        'OutcomeForgotten',
        `Until ${spec.expiresAt} somebody must find out whether it happened; then equal calls are possible again: ${what}`,
      );
  }
}

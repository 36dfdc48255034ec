/**
 * An answer as one JSON document, the form of design section 5: what `postern call -o json` prints and what programs
 * without protobuf read.
 */
import type { Envelope } from '#core/completeness/envelope.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import { type Result, Result_Status } from '#proto/postern/v1/action_pb.ts';
import { completenessFrom, omittedFieldFrom, warningFrom } from './completeness-message.ts';
import { type StepDocument, stepDocument } from './step-document.ts';

export interface AnswerDocument extends Envelope {
  readonly request_id: string;
  readonly operation_id: string;
  readonly action: string;
  readonly revision: string;
  /** Absent where the answer proves nothing that a mutation could rest on. */
  readonly evidence?: string;
  /** What became of each target of an effect; absent for reads. */
  readonly steps?: readonly StepDocument[];
}

/** Throws SyntaxError when `data` is not JSON, and INTERNAL faults of a sidecar are not papered over. */
export function answerDocument(message: Result): AnswerDocument {
  const data: Record<string, JsonValue> = JSON.parse(new TextDecoder().decode(message.data));
  if (message.completeness === undefined) throw new TypeError('a result without completeness is no answer');
  return {
    status: message.status === Result_Status.OK ? 'ok' : 'partial',
    request_id: message.requestId,
    operation_id: message.operationId,
    action: message.action,
    revision: message.revision,
    data,
    completeness: completenessFrom(message.completeness),
    warnings: message.warnings.map(warningFrom),
    omitted_fields: message.omittedFields.map(omittedFieldFrom),
    ...(message.evidence === '' ? {} : { evidence: message.evidence }),
    ...(message.steps.length === 0 ? {} : { steps: message.steps.map(stepDocument) }),
  };
}

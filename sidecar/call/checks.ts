/**
 * The checks every call passes before its arguments are looked at, in this order; the first that fails ends the call.
 */

import { limits } from '#core/bounds/limits.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { OPERATION_ID } from '#sidecar/journal/operation-id.ts';
import type { ExecuteCall } from './calls.ts';
import { suspendedError } from './standing.ts';

export function checkCall(call: ExecuteCall): void {
  if (call.argumentsJson.byteLength > limits.argumentsBytesMax)
    throw invalid('/arguments_json', 'too_long', `Arguments may have at most ${limits.argumentsBytesMax} bytes.`);
  if (call.cursor !== undefined && call.cursor.length > limits.cursorBytesMax)
    throw new PosternError('CURSOR_INVALID', 'This is not a cursor of this sidecar.');
  if (call.operationId !== undefined && !OPERATION_ID.test(call.operationId))
    throw invalid('/operation_id', 'pattern', 'An operation_id is made by Postern: op_ and 26 letters or digits.');
  if ((call.evidence?.length ?? 0) > limits.evidenceTokensMax)
    throw invalid('/evidence', 'too_many', `A call takes at most ${limits.evidenceTokensMax} pieces of evidence.`);
  if (call.deadlineMs !== undefined && !(call.deadlineMs > 0))
    throw invalid('/deadline_ms', 'minimum', 'The deadline must be at least 1 millisecond.');
}

export function checkContract(contract: CompiledContract, suspension: 'contract' | 'binding' | undefined): void {
  if (suspension !== undefined) throw suspendedError(suspension, contract.action);
  if (contract.notReady !== undefined)
    throw new PosternError('CONTRACT_NOT_READY', contract.notReady, { details: { action: contract.action } });
}

function invalid(path: string, rule: string, message: string): PosternError {
  return new PosternError('INVALID_ARGUMENT', message, { fields: [{ path, rule, message }] });
}

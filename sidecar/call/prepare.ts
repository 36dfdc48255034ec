/**
 * From a call to a plan: checks, arguments, cursor. Nothing is sent, nothing is remembered.
 */
import { checkArguments } from '#core/contract/arguments.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import { digestOf } from '#core/encoding/canonical.ts';
import { parseArguments } from '#core/encoding/strict-json.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Cursors } from '#sidecar/cursor/cursor.ts';
import { newOperationId } from '#sidecar/journal/operation-id.ts';
import type { Bundle, ServedAction } from './bundle.ts';
import type { ExecuteCall } from './calls.ts';
import { checkCall, checkContract } from './checks.ts';
import type { Plan } from './plan.ts';
import type { Standing } from './standing.ts';

export interface PrepareMeans {
  readonly cursors: Cursors;
  readonly standing: Standing;
}

/** Throws PosternError: INVALID_ARGUMENT, ACTION_UNKNOWN, CONTRACT_NOT_READY, SESSION_*, CONTROL_STALE, CURSOR_INVALID. */
export function prepare(bundle: Bundle, { cursors, standing }: PrepareMeans, call: ExecuteCall, requestId: string): Plan {
  checkCall(call);
  const served = bundle.action(call.action);
  checkContract(served.contract, bundle.suspension(served.contract));
  const refused = standing.refusal(served.contract);
  if (refused !== undefined) throw refused;
  const args = readArguments(served, call.argumentsJson);
  const argsDigest = digestOf('arguments', args);
  const { revision, action } = served.contract;
  const resume = call.cursor === undefined ? undefined : cursors.open(call.cursor, { action, revision, argsDigest });
  return {
    served,
    args,
    argsDigest,
    requestId,
    operationId: call.operationId ?? newOperationId(),
    onePage: call.onePage,
    ...(call.deadlineMs === undefined ? {} : { deadlineMs: call.deadlineMs }),
    ...(resume === undefined ? {} : { resume }),
  };
}

function readArguments(served: ServedAction, json: Uint8Array): Readonly<Record<string, JsonValue>> {
  const value = json.byteLength === 0 ? Object.create(null) : parseArguments(json);
  const checked = checkArguments(served.contract.arguments, value);
  if (checked.kind === 'arguments') return checked.args;
  throw new PosternError('INVALID_ARGUMENT', 'The arguments break a rule of the contract.', { fields: checked.violations });
}

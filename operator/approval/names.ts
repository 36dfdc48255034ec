/** Names of ActionApprovals. Both are made from what they are about, so that asking twice finds the first. */
import { digestOf } from '#core/encoding/canonical.ts';

const OPERATION = /^op_([a-z0-9]{26})$/;

export function isOperationId(text: string): boolean {
  return OPERATION.test(text);
}

/** `op-` and the 26 characters of the operation id; undefined for what is no operation id. */
export function questionName(operationId: string): string | undefined {
  const [, id] = OPERATION.exec(operationId) ?? [];
  return id === undefined ? undefined : `op-${id}`;
}

export interface HeldCall {
  readonly serviceAccount: string;
  /** metadata.name. */
  readonly contract: string;
  readonly argsDigest: string;
}

/**
 * One name for all equal calls of a ServiceAccount: that the API server creates a name once is what two sessions, two replicas and
 * every retry agree by.
 */
export function holdName({ serviceAccount, contract, argsDigest }: HeldCall): string {
  return `hold-${digestOf('hold', [serviceAccount, contract, argsDigest]).slice('sha256:'.length, 'sha256:'.length + 40)}`;
}

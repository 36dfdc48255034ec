/** `op_` and 26 of `[a-z0-9]` (design section 10): 134 bits of randomness, made by the executor and never by the agent. */
import { randomText } from '#core/encoding/random.ts';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const LENGTH = 26;

export function newOperationId(): string {
  return `op_${randomText(ALPHABET, LENGTH)}`;
}

export const OPERATION_ID = /^op_[a-z0-9]{26}$/;

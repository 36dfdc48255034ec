/** `op_` and 26 of `[a-z0-9]` (design section 10): 134 bits of randomness, made by the executor and never by the agent. */
import { randomInt } from 'node:crypto';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const LENGTH = 26;

export function newOperationId(): string {
  let id = 'op_';
  for (let i = 0; i < LENGTH; i += 1) id += ALPHABET[randomInt(ALPHABET.length)];
  return id;
}

export const OPERATION_ID = /^op_[a-z0-9]{26}$/;

/**
 * One object as written by a person: a contract, a binding, a preset or a contract test. Nothing in it is trusted
 * before the compiler has looked at it.
 */
import type { JsonObject } from '#core/completeness/path.ts';
import type { SpecPath } from './spec-path.ts';

export const KINDS = ['ActionContract', 'CredentialBinding', 'ContractPreset', 'ContractTest'] as const;
export type Kind = (typeof KINDS)[number];

export interface ResourceObject {
  readonly kind: Kind;
  readonly name: string;
  /** `default` when the object names none. */
  readonly namespace: string;
  readonly spec: JsonObject;
  /** Where the object was read; objects that come from the API server have none. */
  readonly source?: ObjectSource;
}

export interface ObjectSource {
  readonly file: string;
  /** The 1-based line of the member at this path, or of its nearest existing ancestor. */
  lineAt(path: SpecPath): number;
}

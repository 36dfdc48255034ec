/**
 * Everything a card is made from. The operator gets it from the sidecar as JSON, renders the card itself and compares: so every member is
 * either checked by the one who renders (contract, arguments, digests, requester) or marked on the card as the sidecar's word.
 */
import type { JsonValue } from '#core/encoding/json-value.ts';

export interface CardFacts {
  readonly operationId: string;
  /** metadata.name and metadata.namespace of the contract. */
  readonly contract: string;
  readonly namespace: string;
  readonly action: string;
  readonly revision: string;
  /** Canonical; checked by the contract's schema. Untrusted text inside. */
  readonly args: Readonly<Record<string, JsonValue>>;
  readonly argsDigest: string;
  readonly planDigest: string;
  readonly requester: Requester;
  readonly askedAtMs: number;
  readonly expiresAtMs: number;
  /** What `prepare` read. */
  readonly before?: readonly { readonly name: string; readonly before: JsonValue; readonly after?: string }[];
  readonly evidence?: EvidenceFacts;
  /** Reads of this session since its last approval whose answers were incomplete or carried warnings; newest first, bounded. */
  readonly reads: readonly DoubtfulRead[];
  /** Set where one yes covers more than this call. */
  readonly grant?: { readonly calls: number; readonly vary: readonly string[] };
  /** Set on a plan that stands on the card of another one: why it is a choice. */
  readonly alternative?: { readonly name: AlternativeName; readonly of: string };
  /** Names of the other plans that stand beside this card. Absent: none. */
  readonly choices?: readonly AlternativeName[];
  /** An equal call of this session was denied before; by whom is untrusted text. */
  readonly denied?: { readonly atMs: number; readonly approver: string };
}

/** `alone`: a sidecar without an operator, which knows nobody by name. */
export type Requester =
  | { readonly kind: 'alone' }
  | {
      readonly kind: 'pod';
      readonly session: string;
      readonly serviceAccount: string;
      readonly pod: string;
      /** `name@sha256:...`, or the name alone where the digest is not known. */
      readonly image: string;
      /** `Deployment/release-bot`; empty for a bare pod. */
      readonly controller: string;
    };

export interface EvidenceFacts {
  /** The action that answered. */
  readonly action: string;
  readonly items: number;
  readonly complete: boolean;
  /** Own sentences: what the answer lacks, what does not match. Empty when it is sufficient. */
  readonly lacks: readonly string[];
  readonly proof: 'Checked' | 'Declared' | 'Unproven';
  readonly atMs: number;
}

export interface DoubtfulRead {
  readonly action: string;
  readonly atMs: number;
  /** Incompleteness reasons and warning codes. */
  readonly codes: readonly string[];
}

export type AlternativeName = 'retry-longer' | 'listed-only';

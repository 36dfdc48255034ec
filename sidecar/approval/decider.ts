/**
 * Who decides over effects: a person at the sidecar's own socket, or the operator and through it a person of the cluster. The calls do
 * not know which.
 */
import type { CardFacts, Requester } from '#core/approval/card-facts.ts';

/** One question to a person. */
export interface Question {
  /** Its own name, and that of the ActionApproval: `op-` and the 26 characters of the operation id. */
  readonly name: string;
  readonly operationId: string;
  readonly facts: CardFacts;
  readonly card: string;
  readonly cardDigest: string;
  /** Other plans that may be chosen instead, each an operation of its own. At most limits.approvalAlternativesMax. */
  readonly alternatives: readonly Alternative[];
}

export interface Alternative {
  readonly name: string;
  readonly operationId: string;
  readonly facts: CardFacts;
  readonly card: string;
  readonly cardDigest: string;
}

export type Decision =
  | {
      readonly verdict: 'approved';
      /** User name as the decider knows it; untrusted text. */
      readonly approver: string;
      /** Digest of the card that was seen: the question's, or that of the alternative named. */
      readonly cardDigest: string;
      readonly alternative?: string;
      readonly reason: string;
      readonly atMs: number;
    }
  | { readonly verdict: 'denied'; readonly approver: string; readonly reason: string; readonly atMs: number };

export type QuestionState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'decided'; readonly decision: Decision }
  | { readonly kind: 'expired' }
  /** Contract, binding or card are no longer what was asked; own sentence. */
  | { readonly kind: 'void'; readonly because: string };

/** What is about to be sent. */
export interface Intent {
  readonly operationId: string;
  readonly contract: string;
  readonly action: string;
  readonly revision: string;
  readonly argsDigest: string;
  readonly planDigest: string;
  /** The same facts a card has: whoever asks later "did it happen?" shows them. */
  readonly facts: CardFacts;
  /**
   * Whether an equal call must wait while the outcome is unknown: of all effects but Natural ones. With a key only this very operation is
   * recognized by its remote; an equal call of another pod would have another key.
   */
  readonly holds: boolean;
  /** An earlier request of this operation may have happened: it is sent again under the same key. */
  readonly inDoubt: boolean;
  /** Name of the question whose yes this uses. */
  readonly approval?: string;
}

export interface Decider {
  /** Who asks, for every card of now: the decider renders cards itself, from its own knowledge. Throws CONTROL_STALE while it is not known. */
  requester(): Requester;
  /**
   * Resolves once the question is kept durably by whoever decides. Asking the same name again is the same question.
   * Throws PosternError: LIMIT_EXCEEDED (too many open), CONTROL_STALE (nobody there to ask), AUDIT_UNAVAILABLE.
   */
  ask(question: Question): Promise<void>;
  /** As far as it is known here, without asking anybody. Undefined: no such question. */
  state(name: string): QuestionState | undefined;
  /**
   * Right before the first byte: the decider remembers durably that this operation is under way, and that its approval is used. MUST
   * judge the approval again as it is now. Saying the same operation again while it is under way is no error.
   * Throws PosternError: APPROVAL_REQUIRED, APPROVAL_DENIED, APPROVAL_EXPIRED, IDEMPOTENCY_BUSY (an equal call runs), OUTCOME_UNKNOWN
   * (an equal call is held), CONTROL_STALE, AUDIT_UNAVAILABLE.
   */
  admit(intent: Intent): Promise<void>;
  /** What became of an admitted operation. MUST be told for every one, also when it is told late; never rejects. */
  settled(operationId: string, end: 'done' | 'notDone' | 'unknown'): Promise<void>;
  /** `listener` hears of every change of a question by name, and of every resolution. Returns how to stop it. */
  onChange(listener: (change: Change) => void): () => void;
}

export type Change =
  | { readonly kind: 'question'; readonly name: string; readonly state: QuestionState }
  /** A person found out what became of an operation of unknown outcome. */
  | { readonly kind: 'resolved'; readonly operationId: string; readonly verdict: 'done' | 'notDone'; readonly by: string };

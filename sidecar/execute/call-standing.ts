/** Whether one call may go on: asked before each request leaves and before its rows do. */
import type { PosternError } from '#core/error/postern-error.ts';

export interface CallStanding {
  /** Why this call may not go on now; undefined when it may. MUST be cheap: it stands before every request. */
  refusal(): PosternError | undefined;
  /** `stop` is called when the call may not go on any more, so that a wait ends at once. Returns how to forget it. */
  onLost(stop: () => void): () => void;
}

/** Where nobody can take the right to call away. */
export const UNCONDITIONAL: CallStanding = { refusal: () => undefined, onLost: () => forgetNothing };

function forgetNothing(): void {
  // Nothing was remembered.
}

/** The keys of a session, kept in a folder where there is one; and what becomes of a start whose folder cannot be used. */
import type { Log } from '#core/runtime/log.ts';
import { ephemeralKeys, keptKeys, type SessionKeys, StateUnusable } from '#sidecar/cursor/keys.ts';
import { StartRefused, systemCodeOf } from '#sidecar/start-refused.ts';

/** Of a start that somebody watches. Throws StartRefused for a folder that cannot be used. */
export function keysOrRefuse(state: string | undefined): SessionKeys {
  if (state === undefined) return ephemeralKeys();
  try {
    return keptKeys(state);
  } catch (fault) {
    const why = fault instanceof StateUnusable ? fault.message : `${state} cannot be used (${systemCodeOf(fault)})`;
    throw new StartRefused(
      `its keys cannot be kept: ${why}`,
      'Name a folder with --state that it may write to, and that nothing else writes to.',
    );
  }
}

/**
 * As `keysOrRefuse`, but a folder that cannot be used costs only what it would have kept: cursors, evidence, the last bundle - and the name
 * of this instance, so that a restarted container is taken for a second sidecar and its session waits for a person (kubectl postern admit).
 */
export function keysOrNone(state: string | undefined, log: Log): { readonly keys: SessionKeys; readonly directory: string | undefined } {
  if (state === undefined) return { keys: ephemeralKeys(), directory: undefined };
  try {
    return { keys: keptKeys(state), directory: state };
  } catch (fault) {
    log.warn(
      'the state folder cannot be used; cursors, evidence and the last bundle end with this process, and a restart suspends the session',
      {},
      fault,
    );
    return { keys: ephemeralKeys(), directory: undefined };
  }
}

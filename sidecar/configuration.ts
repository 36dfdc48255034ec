/** Where a sidecar has its contracts from, as the rest of it sees that: files at its start, or an operator as long as it lives. */

import type { Decider } from '#sidecar/approval/decider.ts';
import type { AuditControl } from '#sidecar/audit/audit-control.ts';
import type { Bundle } from '#sidecar/call/bundle.ts';
import { ALWAYS_GOOD, type Standing } from '#sidecar/call/standing.ts';

export interface Configuration {
  readonly standing: Standing;
  /** The newest, if there is any yet. */
  bundle(): Bundle | undefined;
  /** What calls wait for, as closed words for a probe. */
  notReady(): readonly string[];
  /** What the start of the pod waits for, as closed words for a probe. */
  notStarted(): readonly string[];
  /** Who decides over effects, where it is not the people at this sidecar's own socket. */
  readonly decider?: Decider;
  /** Who says how this session is recorded, where that is not the command line. */
  readonly audit?: AuditControl;
  /** Calls are taken from now on. */
  begin(): void;
  stop(): Promise<void>;
}

export function fixedConfiguration(bundle: Bundle): Configuration {
  return {
    standing: ALWAYS_GOOD,
    bundle: () => bundle,
    notReady: () => [],
    notStarted: () => [],
    begin: () => {},
    stop: () => Promise.resolve(),
  };
}

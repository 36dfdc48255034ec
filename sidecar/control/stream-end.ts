/** Why a control stream ended, as closed words: nothing a peer or a library says is logged or shown. */
import { PosternError } from '#core/error/postern-error.ts';
import { type ControlRefusalCode, refusalCodeIn } from '#core/wire/control-refusal.ts';

/** What this end finds; what the operator says is a code of core/wire/control-refusal.ts. */
export const OWN_ENDS = {
  name_unresolved: "The operator's name has no address.",
  unreachable: 'No connection was made, or it broke.',
  certificate_unpinned: 'No certificate of the chain has the pinned key, or there is none.',
  certificate_untrusted: 'The certificate is not signed by the pinned key, or is for another use.',
  certificate_expired: 'The certificate, or that of its CA, is outside of its dates.',
  certificate_name: 'The certificate is for another name.',
  token_unreadable: 'The token file is not there, is empty or too large.',
  version_unsupported: 'The operator speaks no version of the protocol that is spoken here.',
  not_welcomed: 'No welcome came in time.',
  silent: 'Two heartbeats were missed.',
  protocol_broken: 'Messages came that the protocol does not allow.',
  closed: 'The operator ended the stream well.',
  stopped: 'This sidecar stops.',
} as const;

export type OwnEnd = keyof typeof OWN_ENDS;
export type StreamEnd = OwnEnd | ControlRefusalCode;

export class ControlFault extends Error {
  readonly end: OwnEnd;
  constructor(end: OwnEnd, cause?: unknown) {
    super(OWN_ENDS[end], cause === undefined ? undefined : { cause });
    this.name = 'ControlFault';
    this.end = end;
  }
}

/** The word for whatever ended a stream. */
export function streamEndOf(thrown: unknown): StreamEnd {
  if (thrown instanceof ControlFault) return thrown.end;
  const error = PosternError.from(thrown);
  const refusal = refusalCodeIn(error.message);
  if (refusal !== undefined) return refusal;
  // Of the library: a message over the limit, or bytes that are none.
  return error.reason === 'LIMIT_EXCEEDED' || error.reason === 'INVALID_ARGUMENT' ? 'protocol_broken' : 'unreachable';
}

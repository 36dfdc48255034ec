/**
 * One request and what came back, as the rules of a contract see it. No bytes of the credential are in it.
 */
import type { JsonValue } from '#core/contract/compiled.ts';

/** What was really sent, without the credential; the `sent` variable of expressions. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  /** Repeated parameters are joined by a comma. */
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonValue;
}

/**
 * Why a reply that began cannot be believed to be whole.
 * `cut`: the connection ended before the framing said so. `unframed`: neither length nor chunks, so nothing
 * tells a whole body from a cut one (failure case HTTP-08). `undecodable`: not what the decoder reads.
 * `contentType`: not the contract's. `tooLarge`: a wire or decoded cap was hit.
 */
export type BodyFault = 'cut' | 'unframed' | 'undecodable' | 'contentType' | 'tooLarge';

export interface Reply {
  readonly kind: 'reply';
  readonly status: number;
  /** Of a command over SSH, whose status is 0: how it ended. Without one of the two nobody knows how (failure case SSH-06). Signals as RFC 4254 names them, `KILL`. */
  readonly exit?: { readonly code: number } | { readonly signal: string };
  /** What a command wrote to its error stream, capped, with credentials masked. */
  readonly stderr?: string;
  /** Lower-case names, null prototype; repeated headers joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded body with credentials masked; `undefined` when there is none or it is not decodable. An `unframed` body that decodes is here too. */
  readonly body: JsonValue | undefined;
  readonly fault?: BodyFault;
  /** Decoded bytes of the body, counted against `limits.bytes`. */
  readonly bytes: number;
  /** Paths of numbers beyond 2^53 that were turned into strings (VALUE_NORMALIZED). */
  readonly normalized: readonly string[];
  /** A credential was found in the reply and masked (CREDENTIAL_REFLECTED). */
  readonly reflected: boolean;
  readonly receivedAtMs: number;
}

/** No usable status line came. `refused` never left us (address not allowed, TLS not trusted). */
export interface NoReply {
  readonly kind: 'noReply';
  /** `locked`: the credential cannot be read at the moment, so nothing was sent. */
  readonly cause: 'unreachable' | 'timedOut' | 'protocol' | 'egressDenied' | 'tls' | 'locked' | 'hostKey';
  /** Whether a byte of the request may have reached the remote: then nobody knows what it did. */
  readonly sent: boolean;
  readonly receivedAtMs: number;
}

export interface Exchange {
  readonly sent: SentRequest;
  readonly reply: Reply | NoReply;
}

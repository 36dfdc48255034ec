/**
 * The seam between "what we ask" and "how bytes travel": the real one speaks HTTP/1.1 over vetted, pinned
 * connections; `postern contract test` replays recorded exchanges through the same interface, so that decoding,
 * masking and the walk are the code production runs.
 */

/** A request assembled, re-parsed and compared with its template; the credential is not in it yet. */
export interface OutboundRequest {
  readonly method: string;
  /** Canonical origin, `https://host[:port]`. */
  readonly origin: string;
  /** Path and query, percent-encoded, starting with `/`. */
  readonly target: string;
  /** Lower-case names; an allow-list built from the contract and nothing else. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: Uint8Array;
}

/** A reply as bytes, before masking and decoding. */
export interface RawReply {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  /** After content decoding (gzip, deflate, br), up to the cap. */
  readonly body: Uint8Array;
  /** Absent: framed and whole. */
  readonly fault?: 'cut' | 'unframed' | 'tooLarge';
}

export interface SendOptions {
  /** Aborted at the total deadline and when the caller cancels. */
  readonly signal: AbortSignal;
  /** Cap on bytes on the wire, and on bytes after content decoding. */
  readonly wireBytesMax: number;
  readonly bodyBytesMax: number;
}

export interface Transport {
  /**
   * MUST send at most one request, MUST NOT follow, retry, cache or keep cookies.
   * Throws TransportFailure when no status line came.
   */
  send(request: OutboundRequest, options: SendOptions): Promise<RawReply>;
}

/** Why there is no reply. `sent`: whether a byte of the request may have reached the remote. */
export class TransportFailure extends Error {
  readonly kind: 'unreachable' | 'timedOut' | 'protocol' | 'egressDenied' | 'tls';
  readonly sent: boolean;
  constructor(kind: TransportFailure['kind'], sent: boolean, cause?: unknown) {
    super(`no reply: ${kind}`, cause === undefined ? undefined : { cause });
    this.name = 'TransportFailure';
    this.kind = kind;
    this.sent = sent;
  }
}

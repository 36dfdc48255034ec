/**
 * Every limit of Postern with its unit, in one place, sorted by area. A limit that a caller can meet is
 * disclosed in the answer that meets it.
 */
export const limits = {
  // arguments and calls
  /** Largest argument text; an agent's question is short, and the whole text is parsed before anything is known of it. */
  argumentsBytesMax: 64 * 1024,
  /** Nesting of argument JSON (failure case JSON-07). */
  argumentsDepthMax: 32,
  /** Calls running at once in one sidecar; more are refused with LIMIT_EXCEEDED rather than queued without bound. */
  callsInFlightMax: 256,
  /** Data of one result; default clients refuse gRPC messages over 4 MiB, and the envelope needs room beside it. */
  resultDataBytesMax: 3 * 1024 * 1024,
  /** Operations remembered in memory for GetOperation and ListOperations. */
  operationsKeptMax: 1000,
  /** Longest wait of one GetOperation. */
  operationWaitMsMax: 60_000,

  // cursors
  /** Sealed cursor text: must fit one Execute request beside its arguments. */
  cursorBytesMax: 96 * 1024,
  /** Life of a cursor where the contract states none. */
  cursorTtlMsDefault: 5 * 60_000,
} as const;

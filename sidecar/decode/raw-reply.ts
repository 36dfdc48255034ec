/** A reply as bytes, before masking and decoding. */
export interface RawReply {
  readonly status: number;
  /** In the order received, names lower-case. */
  readonly headers: readonly (readonly [string, string])[];
  /** After content decoding (gzip, deflate, br), up to the cap. */
  readonly body: Uint8Array;
  /** Absent: framed and whole. */
  readonly fault?: 'cut' | 'unframed' | 'tooLarge';
}

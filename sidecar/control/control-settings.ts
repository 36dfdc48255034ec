/** Where the operator is, and how each side proves who it is. */
export interface ControlSettings {
  /** Name or literal address. */
  readonly host: string;
  readonly port: number;
  /** `sha256:` and 64 hex digits over the public key (SPKI) of the operator's CA. */
  readonly pin: string;
  /** File with the projected ServiceAccount token. */
  readonly tokenFile: string;
}

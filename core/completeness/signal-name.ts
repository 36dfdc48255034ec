/**
 * Names of signals that may be repeated. A host writes the name into its message (RFC 4254, section 6.10) and may write anything, so only
 * those that POSIX knows are more than "a signal".
 * @see https://www.rfc-editor.org/rfc/rfc4254#section-6.10
 */
const SIGNALS: ReadonlySet<string> = new Set(
  'ABRT ALRM BUS FPE HUP ILL INT KILL PIPE QUIT SEGV SYS TERM TRAP USR1 USR2 XCPU XFSZ'.split(' '),
);

/** `KILL` as it is; anything else is `unknown`. */
export function signalName(written: string): string {
  return SIGNALS.has(written) ? written : 'unknown';
}

/** For a sentence: `the signal KILL`, or `a signal`. */
export function signalWords(written: string): string {
  return SIGNALS.has(written) ? `the signal ${written}` : 'a signal';
}

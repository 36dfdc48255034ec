/** Why the operator did not start: a sentence, and its cure for the person who started it. */
export class StartRefused extends Error {
  readonly cure: string;
  constructor(message: string, cure: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StartRefused';
    this.cure = cure;
  }
}

/** placeholder signature, see the completeness owner */
export interface Rule {
  readonly text: string;
}

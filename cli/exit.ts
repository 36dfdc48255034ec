/**
 * Exit codes of all commands: whether the answer is all, and whether somebody has to do something, must be readable without parsing it.
 * `approval`: a person has to agree first. `unknown`: something was sent, and nobody knows whether it took effect.
 */
export const EXIT = { complete: 0, error: 1, usage: 2, partial: 3, approval: 4, unknown: 5 } as const;

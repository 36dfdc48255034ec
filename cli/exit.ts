/** Exit codes of all commands: whether the answer is all must be readable without parsing it. */
export const EXIT = { complete: 0, error: 1, usage: 2, partial: 3 } as const;

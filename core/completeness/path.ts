/**
 * Paths and locators of the contract language (section 2.1): where a value is read in an answer.
 * RFC 6901 JSON Pointer plus `*` (every element or map value) and `[type=Ready]` (the one element whose
 * member equals); `/` alone is the whole document.
 */
export type PathStep =
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'every' }
  | { readonly kind: 'equals'; readonly member: string; readonly value: string };

export interface Path {
  /** As written, for messages. */
  readonly text: string;
  readonly steps: readonly PathStep[];
}

/** Exactly one place to read a value; `link` is RFC 8288. */
export type Locator =
  | { readonly kind: 'body'; readonly path: Path }
  | { readonly kind: 'header'; readonly name: string }
  | { readonly kind: 'link'; readonly rel: string; readonly where: Readonly<Record<string, string>>; readonly query?: string }
  | { readonly kind: 'lastItem'; readonly path: Path };

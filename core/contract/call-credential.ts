/** Which binding's credential one call over HTTP uses: where the credential depends on an argument, that of the label it was called with. */
import type { CompiledContract, HttpTarget, JsonValue } from './compiled.ts';
import { composedText, literalText } from './template-text.ts';

/** A literal, or a `resolve` slot all of whose values the compiler saw to be names in `credentials`. Undefined without a label. */
export function callCredential(
  { resolve, constants }: Pick<CompiledContract, 'resolve' | 'constants'>,
  { credential }: Pick<HttpTarget, 'credential'>,
  args: Readonly<Record<string, JsonValue>>,
): string | undefined {
  const nothing = { next: {}, open: {}, source: {}, limits: {}, budget: {}, operation: {} };
  return literalText(credential) ?? composedText(credential, { args, resolve, constants, ...nothing });
}

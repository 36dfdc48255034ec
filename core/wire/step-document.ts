/** What became of one target of an effect, as JSON. */
import type { JsonValue } from '#core/contract/compiled.ts';
import { type Step, Step_State } from '#proto/postern/v1/action_pb.ts';
import { present } from './field.ts';

export interface StepDocument {
  readonly index: number;
  /** The element of a list argument it was for. */
  readonly element?: JsonValue;
  readonly state: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Throws SyntaxError when the element is not JSON. */
export function stepDocument({ index, elementJson, state, error }: Step): StepDocument {
  const element: JsonValue | undefined = elementJson === '' ? undefined : JSON.parse(elementJson);
  return {
    index,
    state: wordOf(Step_State, state),
    ...present({ element, error: error === undefined ? undefined : { code: error.code, message: error.message } }),
  };
}

/** `NOT_NEEDED` is `not_needed`; a number of another release is `state_12`. */
export function wordOf(words: Readonly<Record<string, number>>, value: number): string {
  return (
    Object.keys(words)
      .find((name) => words[name] === value)
      ?.toLowerCase() ?? `state_${value}`
  );
}

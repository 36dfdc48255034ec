/**
 * Every request an effect would send, exactly as it would be sent, before anybody is asked: what a person approves, what the digest of a
 * plan covers and what a dry run shows are one thing (APR-01, APR-02). It is built by the code that builds the real ones, so a value that
 * does not fit its slot is refused when the plan is made and not after somebody said yes.
 *
 * Whatever is only known at the moment of sending has a fixed stand-in: the credential is named and not there, `$(budget.millis)` is the
 * whole time of the call.
 */

import { digestOfBytes } from '#core/encoding/canonical.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { assemble } from './assemble.ts';
import { assembleCommand } from './assemble-command.ts';
import { callCredential } from './call-credential.ts';
import type { CompiledContract, HttpTarget, SshTarget } from './compiled.ts';
import type { SlotValues } from './slot-value.ts';

/** One element of a `forEach`, or the whole effect. */
export interface EffectElement {
  /** From 0; the position in the argument. */
  readonly index: number;
  readonly value: JsonValue;
}

export interface RenderedHttp {
  readonly kind: 'http';
  /** Name of the binding whose credential is put on. */
  readonly credential: string;
  readonly method: string;
  readonly origin: string;
  /** Path and query, percent-encoded. */
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  /** Absent: no body. `text` is the body as UTF-8. */
  readonly body?: { readonly digest: string; readonly text: string };
}

export interface RenderedCommand {
  readonly kind: 'ssh';
  readonly credential: string;
  /** `ssh://host:port`. */
  readonly origin: string;
  readonly argv: readonly string[];
  /** What the remote's shell reads. */
  readonly line: string;
  readonly stdin?: { readonly digest: string; readonly text: string };
}

export type RenderedRequest = (RenderedHttp | RenderedCommand) & {
  /** By which a remote tells a repetition of this request. */
  readonly key: string;
};

export interface EffectCall {
  readonly contract: CompiledContract;
  /** Checked by the contract's schema. */
  readonly args: Readonly<Record<string, JsonValue>>;
  readonly operationId: string;
}

/**
 * In the order they would be sent; never empty. As JSON, the `requests` of a plan digest.
 * @throws PosternError INVALID_ARGUMENT (field path and rule) for a value that does not fit its place or a `forEach` over nothing.
 */
export function renderEffect(call: EffectCall): readonly RenderedRequest[] {
  const elements = elementsOf(call.contract, call.args);
  const rendered = elements === undefined ? [render(call, undefined)] : elements.map((element) => render(call, element));
  if (rendered.length > 0) return rendered;
  const path = `/${call.contract.effects.forEach?.argument.join('/') ?? ''}`;
  const message = `${path} must name at least one element: nothing would be done.`;
  throw new PosternError('INVALID_ARGUMENT', message, { fields: [{ path, rule: 'too_few_items', message }] });
}

/** What `forEach` runs over, in order; undefined for an effect of one request. */
export function elementsOf({ effects }: CompiledContract, args: EffectCall['args']): readonly EffectElement[] | undefined {
  if (effects.forEach === undefined) return undefined;
  let held: JsonValue | undefined = args;
  for (const name of effects.forEach.argument) {
    held =
      typeof held === 'object' && held !== null && Object.hasOwn(held, name)
        ? (held as Readonly<Record<string, JsonValue>>)[name]
        : undefined;
  }
  return Array.isArray(held) ? held.map((value: JsonValue, index) => ({ index, value })) : [];
}

/** What the slots of one request of an effect stand for. `budgetMs`: what is left of the call; by default all of it. */
export function effectValues(
  { contract, args, operationId }: EffectCall,
  element: EffectElement | undefined,
  budgetMs?: number,
): SlotValues {
  const { pages, items, bytes, timeMs, pageSize } = contract.completeness.limits;
  return {
    args,
    resolve: contract.resolve,
    constants: contract.constants,
    next: {},
    open: {},
    source: {},
    limits: { pages, items, bytes, time: timeMs, ...(pageSize === undefined ? {} : { pageSize }) },
    budget: { millis: budgetMs ?? timeMs },
    operation: { id: operationId, key: operationKey(operationId, element?.index) },
    ...(element === undefined ? {} : { each: element.value }),
  };
}

/** The id of the operation; of one element of a `forEach`, `<id>-<index>`: a remote must not take the second for a repetition of the first. */
function operationKey(operationId: string, index: number | undefined): string {
  return index === undefined ? operationId : `${operationId}-${index}`;
}

function render(call: EffectCall, element: EffectElement | undefined): RenderedRequest {
  const values = effectValues(call, element);
  const { target } = call.contract;
  const request = target.kind === 'http' ? renderHttp(call, target, values) : renderCommand(target, values);
  return { ...request, key: operationKey(call.operationId, element?.index) };
}

function renderHttp({ contract, args }: EffectCall, target: HttpTarget, values: SlotValues): RenderedHttp {
  const { outbound } = assemble(target.request, values);
  const { method, origin, headers, body } = outbound;
  return {
    kind: 'http',
    credential: callCredential(contract, target, args) ?? '',
    method,
    origin,
    target: outbound.target,
    headers,
    ...(body === undefined ? {} : { body: shown(body) }),
  };
}

function renderCommand(target: SshTarget, values: SlotValues): RenderedCommand {
  const { origin, argv, line, stdin } = assembleCommand(target, values).outbound;
  return { kind: 'ssh', credential: target.credential, origin, argv, line, ...(stdin === undefined ? {} : { stdin: shown(stdin) }) };
}

function shown(bytes: Uint8Array): { readonly digest: string; readonly text: string } {
  return { digest: digestOfBytes('request-body', bytes), text: Buffer.from(bytes).toString('utf8') };
}

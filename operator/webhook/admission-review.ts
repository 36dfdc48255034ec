/**
 * AdmissionReview v1 as the API server sends and expects it (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/).
 * The sender is not authenticated: whoever reaches the port may ask. So nothing here has an effect beyond its answer, and everything
 * has a bound.
 */
import { limits } from '#core/bounds/limits.ts';
import { visibleText } from '#core/encoding/visible-text.ts';

export interface AdmissionRequest {
  readonly uid: string;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  /** Plural, lower case. */
  readonly resource: string;
  readonly subresource: string;
  /** Empty for kinds without one. */
  readonly namespace: string;
  readonly dryRun: boolean;
  /** Null for DELETE. */
  readonly object: KubeMap | null;
  /** Null for CREATE. */
  readonly oldObject: KubeMap | null;
}

/** An object with `metadata`; the API server has checked the rest against its schema. */
export type KubeMap = Readonly<Record<string, unknown>> & { readonly metadata: Readonly<Record<string, unknown>> };

export type AdmissionAnswer =
  | { readonly allowed: true; readonly patch?: readonly unknown[]; readonly warnings?: readonly string[] }
  | {
      readonly allowed: false;
      readonly message: string;
      readonly warnings?: readonly string[];
      /** The same request may be allowed then: API clients, kubectl and controllers repeat it by themselves. */
      readonly retryAfterSeconds?: number;
    };

/** A body that is no admission request; the message is ours. */
export class ReviewError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ReviewError';
  }
}

/** Throws ReviewError. */
export function readReview(body: Buffer): AdmissionRequest {
  const review = asMap(parse(body));
  if (review?.apiVersion !== 'admission.k8s.io/v1' || review.kind !== 'AdmissionReview') {
    throw new ReviewError('Send an AdmissionReview of admission.k8s.io/v1.');
  }
  const request = asMap(review.request);
  const resource = asMap(request?.resource);
  const { uid, operation } = request ?? {};
  if (typeof uid !== 'string' || !/^[0-9A-Za-z-]{1,128}$/.test(uid)) throw new ReviewError('request.uid is missing or malformed.');
  if (!isOperation(operation)) throw new ReviewError('request.operation is not CREATE, UPDATE, DELETE or CONNECT.');
  return {
    uid,
    operation,
    resource: nameIn(resource?.resource),
    subresource: nameIn(request?.subResource),
    namespace: nameIn(request?.namespace),
    dryRun: request?.dryRun === true,
    object: objectIn(request?.object, 'request.object'),
    oldObject: objectIn(request?.oldObject, 'request.oldObject'),
  };
}

/** The body of the answer. Refusals carry a Status, so that the client of the API server sees a code it can act on. */
export function writeReview(uid: string, answer: AdmissionAnswer): string {
  const warnings = answer.warnings === undefined || answer.warnings.length === 0 ? {} : { warnings: answer.warnings };
  const response = answer.allowed
    ? { uid, allowed: true, ...patchIn(answer.patch), ...warnings }
    : { uid, allowed: false, status: statusOf(answer), ...warnings };
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response });
}

function patchIn(patch: readonly unknown[] = []): object {
  return patch.length === 0 ? {} : { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
}

function statusOf({ message, retryAfterSeconds }: Extract<AdmissionAnswer, { allowed: false }>): object {
  const shown = visibleText(message, { chars: limits.admissionMessageCharsMax, lines: MESSAGE_LINES });
  if (retryAfterSeconds === undefined) return { status: 'Failure', message: shown, reason: 'Forbidden', code: 403 };
  return { status: 'Failure', message: shown, reason: 'TooManyRequests', code: 429, details: { retryAfterSeconds } };
}

/** A problem a line. */
const MESSAGE_LINES = 60;

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new ReviewError('The body is no JSON.');
  }
}

function asMap(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : undefined;
}

function objectIn(value: unknown, field: string): KubeMap | null {
  if (value === undefined || value === null) return null;
  const map = asMap(value);
  if (map === undefined) throw new ReviewError(`${field} is no object.`);
  return { ...map, metadata: asMap(map.metadata) ?? {} };
}

const OPERATIONS = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const;

function isOperation(value: unknown): value is AdmissionRequest['operation'] {
  return OPERATIONS.some((operation) => operation === value);
}

/** A name of the API, or nothing: the caches are asked with it. */
function nameIn(value: unknown): string {
  return typeof value === 'string' && /^[a-z0-9.-]{0,253}$/.test(value) ? value : '';
}

/** One line of a watch, as what it says. Pure; the reading is in watch.ts, what follows from it in informer.ts. */
import type { KubeObject } from './records.ts';

export type Frame =
  /** ADDED or MODIFIED: the difference is in what we knew, and a replay says ADDED again (failure case OPR-23). */
  | { readonly kind: 'present'; readonly object: KubeObject }
  | { readonly kind: 'deleted'; readonly object: KubeObject }
  | { readonly kind: 'bookmark'; readonly version: string }
  /** The watch ends. `expired`: its version is too old, and only a list helps. */
  | { readonly kind: 'error'; readonly expired: boolean; readonly retryAfterMs: number | undefined }
  /** Half a line, or a form nobody knows: something was said that we did not get (failure case OPR-12). */
  | { readonly kind: 'unreadable' };

const UNREADABLE: Frame = { kind: 'unreadable' };

export function frameOf(line: string): Frame {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return UNREADABLE; // counted by whoever reads frames
  }
  if (!isRecord(value) || !isRecord(value.object)) return UNREADABLE;
  const { type, object } = value;
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return isObject(object) ? { kind: 'present', object } : UNREADABLE;
    case 'DELETED':
      return isObject(object) ? { kind: 'deleted', object } : UNREADABLE;
    case 'BOOKMARK':
      return bookmarkOf(object as Readonly<Record<string, unknown>>);
    case 'ERROR':
      return errorOf(object as Readonly<Record<string, unknown>>);
    default:
      return UNREADABLE;
  }
}

/** Whether an item of a list or a watch can be known again: name, UID, version. */
export function isObject(value: unknown): value is KubeObject {
  if (!isRecord(value) || !isRecord(value.metadata)) return false;
  const { name, uid, resourceVersion, namespace = '' } = value.metadata;
  return isText(name) && isText(uid) && isText(resourceVersion) && typeof namespace === 'string';
}

/**
 * Whether version `a` is older than `b`. Versions are numbers of one row in every API server that stores in etcd, and since
 * Kubernetes 1.35 by contract; of others nobody can say, and the answer is false.
 */
export function isOlder(a: string, b: string): boolean {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return false;
  return a.length === b.length ? a < b : a.length < b.length;
}

const DECIMAL = /^[1-9]\d{0,30}$/;

function bookmarkOf(object: Readonly<Record<string, unknown>>): Frame {
  const version = isRecord(object.metadata) ? object.metadata.resourceVersion : undefined;
  return isText(version) ? { kind: 'bookmark', version } : UNREADABLE;
}

function errorOf({ code, reason, details }: Readonly<Record<string, unknown>>): Frame {
  const seconds = isRecord(details) ? details.retryAfterSeconds : undefined;
  return {
    kind: 'error',
    expired: code === 410 || reason === 'Expired' || reason === 'Gone',
    retryAfterMs: typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined,
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/**
 * Where a store is, as a person writes it: `file:///DIR` or `s3://BUCKET/PREFIX?region=..&endpoint=..&retention=MODE:DAYS`.
 *
 * Credentials never stand in an address: it goes into logs, status and manifests. Anything that is not known is refused, so that a misspelled
 * `retention` is not a store without one.
 */
import { limits } from '#core/bounds/limits.ts';
import { isObjectName } from './object-name.ts';

export interface FileAddress {
  readonly kind: 'file';
  /** Absolute. */
  readonly folder: string;
}

/** Object Lock: nobody may delete a version before its time (`COMPLIANCE`), or only who has a right of its own (`GOVERNANCE`). */
export interface Retention {
  readonly mode: (typeof RETENTION_MODES)[number];
  readonly days: number;
}

export interface S3Address {
  readonly kind: 's3';
  readonly bucket: string;
  /** `` or `a/b/`. */
  readonly prefix: string;
  readonly region?: string;
  /** Origin of a server that speaks S3, such as `http://127.0.0.1:8333`; addressed path style. Absent: Amazon's. */
  readonly endpoint?: string;
  /** Sent with each new object. Absent: the bucket's own default, if it has one. */
  readonly retention?: Retention;
}

export type StoreAddress = FileAddress | S3Address;

/** The message says what is wrong and the cure, and repeats nothing of the address. */
export class StoreAddressUnusable extends Error {}

const RETENTION_MODES = ['COMPLIANCE', 'GOVERNANCE'] as const;
const PARAMETERS = ['region', 'endpoint', 'retention'];
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const REGION = /^[a-z0-9][a-z0-9-]{0,39}$/;
const RETENTION = /^([A-Z]+):([0-9]{1,5})$/;

/** Throws StoreAddressUnusable. */
export function parseStoreAddress(text: string): StoreAddress {
  if (text.length > limits.auditStoreAddressCharsMax)
    throw unusable(`is longer than ${limits.auditStoreAddressCharsMax} characters; shorten the folder or prefix`);
  const url = URL.parse(text);
  if (url === null || !/^(?:file|s3):\/\//.test(text)) throw unusable('is neither file:///DIR nor s3://BUCKET/PREFIX');
  if (url.hash !== '') throw unusable('has a part behind #; write %23 for that character');
  return url.protocol === 'file:' ? fileAddress(url) : s3Address(url, text);
}

/** The shortest text that reads as the same address. */
export function storeAddressText(address: StoreAddress): string {
  if (address.kind === 'file') return `file://${escapePath(address.folder)}`;
  const { bucket, prefix, region, endpoint, retention } = address;
  const query = new URLSearchParams();
  if (region !== undefined) query.set('region', region);
  if (endpoint !== undefined) query.set('endpoint', endpoint);
  if (retention !== undefined) query.set('retention', `${retention.mode}:${retention.days}`);
  const search = query.toString();
  return `s3://${bucket}/${escapePath(prefix)}${search === '' ? '' : `?${search}`}`;
}

function fileAddress(url: URL): FileAddress {
  if (url.host !== '') throw unusable('names a host; a folder of this machine has three slashes, file:///DIR');
  if (url.search !== '') throw unusable('has a part behind ?; a folder takes no settings, and %3F stands for that character');
  const folder = unescaped(url.pathname);
  return { kind: 'file', folder: folder.length > 1 ? folder.replace(/\/+$/, '') || '/' : folder };
}

function s3Address(url: URL, text: string): S3Address {
  if (url.username !== '' || url.password !== '' || text.slice(5).split(/[/?]/)[0]?.includes('@') === true)
    throw unusable('holds a user or a secret; credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or a file');
  if (url.port !== '') throw unusable('has a port behind the bucket; a server of your own is named with ?endpoint=');
  if (!BUCKET.test(url.host)) throw unusable('names no bucket: 3 to 63 of a-z, 0-9, . and -');
  return { kind: 's3', bucket: url.host, prefix: prefixOf(url), ...parametersOf(url.searchParams) };
}

function prefixOf(url: URL): string {
  const prefix = unescaped(url.pathname).replace(/^\//, '').replace(/\/$/, '');
  if (prefix === '') return '';
  if (!isObjectName(prefix) || prefix.length > limits.auditStorePrefixCharsMax)
    throw unusable(
      `has a prefix with an empty, . or .. part, a control character, or more than ${limits.auditStorePrefixCharsMax} characters`,
    );
  return `${prefix}/`;
}

function parametersOf(given: URLSearchParams): Pick<S3Address, 'region' | 'endpoint' | 'retention'> {
  const names = [...given.keys()];
  if (names.some((name) => !PARAMETERS.includes(name))) throw unusable(`has a setting that is not one of ${PARAMETERS.join(', ')}`);
  if (new Set(names).size !== names.length) throw unusable('has a setting twice; name each once');
  const [region, endpoint, retention] = PARAMETERS.map((name) => given.get(name) ?? undefined);
  if (region !== undefined && !REGION.test(region)) throw unusable('names no region: a-z, 0-9 and -, such as eu-central-1');
  return {
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint: endpointOf(endpoint) }),
    ...(retention === undefined ? {} : { retention: retentionOf(retention) }),
  };
}

function endpointOf(text: string): string {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw unusable('has an endpoint that is no http:// or https:// address');
  if (url.username !== '' || url.password !== '' || url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw unusable('has an endpoint with more than scheme, host and port');
  return url.origin;
}

function retentionOf(text: string): Retention {
  const [, word, days] = RETENTION.exec(text) ?? [];
  const mode = RETENTION_MODES.find((known) => known === word);
  const count = Number(days ?? 0);
  if (mode === undefined || count < 1 || count > limits.auditRetentionDaysMax)
    throw unusable(`has a retention that is not COMPLIANCE:DAYS or GOVERNANCE:DAYS with 1 to ${limits.auditRetentionDaysMax} days`);
  return { mode, days: count };
}

function unescaped(path: string): string {
  let text: string;
  try {
    text = decodeURIComponent(path);
  } catch {
    throw unusable('has a % that begins no escaped UTF-8 character; write %25 for that character');
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is refused.
  if (/[\0-\x1f\x7f]/.test(text)) throw unusable('holds a control character');
  return text;
}

function escapePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

function unusable(what: string): StoreAddressUnusable {
  return new StoreAddressUnusable(`The address of the store ${what}.`);
}

/**
 * Credentials of an S3 store: from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from the file AWS_SHARED_CREDENTIALS_FILE names, which is
 * read again as it may be a mounted Secret that rotates. Nothing else is asked: no file in a home folder, no address of the machine's host,
 * which would make a store work by accident with the rights of somebody else.
 */
import { open } from 'node:fs/promises';
import { StoreFault } from '#core/audit/object-store.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** When they are asked for again. */
  readonly expiration?: Date;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Throws StoreFault `refused` at once where nothing is set; the returned function where the file cannot be used. */
export function s3Credentials(env: Env, clock: Clock): () => Promise<S3Credentials> {
  const keys = credentialsOf({ id: env.AWS_ACCESS_KEY_ID, secret: env.AWS_SECRET_ACCESS_KEY, token: env.AWS_SESSION_TOKEN });
  if (keys !== undefined) return async () => keys;
  const path = env.AWS_SHARED_CREDENTIALS_FILE;
  if (path === undefined || path === '')
    throw new StoreFault(
      'refused',
      'The audit store needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SHARED_CREDENTIALS_FILE.',
    );
  const profile = env.AWS_PROFILE ?? 'default';
  return async () => ({
    ...(await fromFile(path, profile)),
    expiration: new Date(clock.wallMs() + limits.auditStoreCredentialsMs),
  });
}

async function fromFile(path: string, profile: string): Promise<S3Credentials> {
  const section = sectionOf(await textOf(path), profile);
  const found = credentialsOf({ id: section.aws_access_key_id, secret: section.aws_secret_access_key, token: section.aws_session_token });
  if (found !== undefined) return found;
  throw new StoreFault(
    'refused',
    'The file AWS_SHARED_CREDENTIALS_FILE names has no aws_access_key_id and aws_secret_access_key in the profile of AWS_PROFILE ([default]).',
  );
}

async function textOf(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const bytes = Buffer.alloc(limits.auditStoreCredentialsBytesMax);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return bytes.toString('utf8', 0, bytesRead);
  } catch (error) {
    // A Secret may be mounted a moment later.
    throw new StoreFault('unavailable', 'The file AWS_SHARED_CREDENTIALS_FILE names cannot be read; check that it is mounted.', error);
  }
}

function sectionOf(text: string, profile: string): Env {
  const values: Record<string, string> = {};
  let inside = false;
  for (const line of text.split(/\r?\n/)) {
    const header = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line)?.[1];
    if (header !== undefined) inside = header === profile;
    const [, name, value] = /^\s*([a-z_]{1,64})\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (inside && name !== undefined && value !== undefined) values[name] = value;
  }
  return values;
}

function credentialsOf(found: {
  readonly id: string | undefined;
  readonly secret: string | undefined;
  readonly token: string | undefined;
}): S3Credentials | undefined {
  const { id, secret, token } = found;
  if (id === undefined || id === '' || secret === undefined || secret === '') return undefined;
  return { accessKeyId: id, secretAccessKey: secret, ...(token === undefined || token === '' ? {} : { sessionToken: token }) };
}

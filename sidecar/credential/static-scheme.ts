/**
 * Credentials that are a fixed text in one header: bearer (RFC 6750), an own header, basic (RFC 7617).
 */
import type { CredentialUse } from '#core/contract/compiled-binding.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Maskable } from './mask.ts';
import { type Headers, headerText, type Scheme } from './scheme.ts';
import type { Secret } from './secret.ts';
import type { CredentialStore } from './store.ts';

export function bearerScheme(store: CredentialStore, secret: string, use: NonNullable<CredentialUse['bearer']>): Scheme {
  return oneHeader(
    () => [store.read(secret, use.key)],
    ([token = '']) => withPrefix('authorization', 'Bearer ', token),
  );
}

export function headerScheme(store: CredentialStore, secret: string, use: NonNullable<CredentialUse['header']>): Scheme {
  return oneHeader(
    () => [store.read(secret, use.key)],
    ([value = '']) => withPrefix(use.name.toLowerCase(), use.prefix ?? '', value),
  );
}

export function basicScheme(store: CredentialStore, secret: string, use: NonNullable<CredentialUse['basic']>): Scheme {
  return oneHeader(
    () => [store.read(secret, use.passwordKey), store.read(secret, use.usernameKey, 'public')],
    ([password = '', username = '']) => {
      // The first colon ends the user name (RFC 7617 section 2).
      if (username.includes(':')) throw new PosternError('CREDENTIAL_INVALID', 'The user name of this action holds a colon.');
      const pair = `${username}:${password}`;
      const header = ['authorization', `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`] as const;
      return { header, maskable: { values: [password], attached: [pair] } };
    },
  );
}

interface Built {
  readonly header: readonly [string, string];
  readonly maskable: Maskable;
}

/** Built once per set of values: the store returns the same objects as long as the files are the same. */
function oneHeader(read: () => readonly Secret[], build: (texts: readonly string[]) => Built): Scheme {
  let last: readonly Secret[] = [];
  let headers: Headers = [];
  let maskable: Maskable = NOTHING;
  return {
    headers: () => {
      const current = read();
      if (current.length !== last.length || current.some((secret, index) => secret !== last[index])) {
        const built = build(current.map((secret) => secret.reveal()));
        headers = [built.header];
        maskable = built.maskable;
        last = current;
      }
      return headers;
    },
    maskable: () => maskable,
  };
}

const NOTHING: Maskable = { values: [], attached: [] };

function withPrefix(name: string, prefix: string, value: string): Built {
  headerText(value);
  return { header: [name, prefix + value], maskable: { values: [value], attached: prefix === '' ? [] : [prefix + value] } };
}

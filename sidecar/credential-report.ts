/**
 * Keys of Secrets as they are mounted now, for the operator: whether each is there and can be used, and a digest that tells two values
 * apart. The digest is bound to the binding's UID, so that equal values of two bindings are not seen to be equal, and cut to 8 hex digits,
 * so that it fits a column and is of little use to whoever wants to test guesses.
 */
import { createHash } from 'node:crypto';
import type { CompiledBinding } from '#core/contract/compiled-binding.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { secretKeysOf } from '#core/resource/secret-keys.ts';
import { CredentialState } from '#proto/postern/control/v1/control_pb.ts';
import type { KeptState } from '#sidecar/control/kept-bundle.ts';
import type { ReportedFile } from '#sidecar/control/reports.ts';
import type { CredentialStore } from '#sidecar/credential/store.ts';

/** A binding with the UID of its object. */
export interface IdentifiedBinding {
  readonly binding: CompiledBinding;
  readonly uid: string;
}

type Since = KeptState['credentials'][string];

export class CredentialReporter {
  readonly #store: CredentialStore;
  readonly #wallMs: () => number;
  #since = new Map<string, Since>();

  constructor(store: CredentialStore, wallMs: () => number) {
    this.#store = store;
    this.#wallMs = wallMs;
  }

  /** Since when values are what they are, as a process before this one saw it. */
  restore(since: KeptState['credentials']): void {
    this.#since = new Map(Object.entries(since));
  }

  /** For the same after a restart. */
  kept(): KeptState['credentials'] {
    return Object.fromEntries(this.#since);
  }

  /** Looks at the files, each at most once in limits.credentialCheckMs. Sorted by binding and key. */
  look(bindings: readonly IdentifiedBinding[]): readonly ReportedFile[] {
    const since = new Map<string, Since>();
    const files = bindings.flatMap(({ binding, uid }) =>
      secretKeysOf(binding.spec).map(({ key, kind }): ReportedFile => {
        const name = `${binding.name}/${key}`;
        const found = this.#look(binding.spec.secret.name, key, kind, uid);
        const before = this.#since.get(name);
        const now = before?.digest === found.digest ? before : { digest: found.digest, sinceMs: this.#wallMs() };
        since.set(name, now);
        return { binding: binding.name, key, ...found, sinceMs: BigInt(now.sinceMs) };
      }),
    );
    this.#since = since;
    return files.sort((one, other) => compare(`${one.binding}/${one.key}`, `${other.binding}/${other.key}`));
  }

  #look(secret: string, key: string, kind: 'secret' | 'public', uid: string): { state: CredentialState; digest: string } {
    try {
      return { state: CredentialState.PRESENT, digest: valueDigest(uid, this.#store.read(secret, key, kind).reveal()) };
    } catch (thrown) {
      const { reason } = PosternError.from(thrown);
      return { state: reason === 'VAULT_LOCKED' ? CredentialState.MISSING : CredentialState.UNUSABLE, digest: '' };
    }
  }
}

export function valueDigest(uid: string, value: string): string {
  return createHash('sha256').update(`postern/credential/v1\0${uid}\0`).update(value).digest('hex').slice(0, 8);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/**
 * Takes every credential of a bundle out of a text that is about to be recorded (failure cases LEAK-22, AUD-25): an agent that found one
 * may send it as an argument, to any action. Other than the masks of replies this reads the files by itself: the record of the very first call
 * is written before anything was attached. Part of a key that is written in lines is found by its lines.
 */
import type { CompiledBinding } from '#core/contract/compiled-binding.ts';
import { secretKeysOf } from '#core/resource/secret-keys.ts';
import { CredentialMask, type ReplyMask } from '#sidecar/credential/mask.ts';
import type { Secret } from '#sidecar/credential/secret.ts';
import type { CredentialStore } from '#sidecar/credential/store.ts';

export class CredentialTexts {
  readonly #store: CredentialStore;
  readonly #keys: readonly { readonly secret: string; readonly key: string }[];
  /** Tokens that were bought with them, and how they are attached. */
  readonly #derived: () => Iterable<{ readonly mask: CredentialMask }>;
  #of: readonly (Secret | undefined)[] = [];
  #generation = -1;
  #mask: ReplyMask = new CredentialMask({ values: [], attached: [] }).forAnyone();

  constructor(bindings: readonly CompiledBinding[], store: CredentialStore, derived: () => Iterable<{ readonly mask: CredentialMask }>) {
    this.#store = store;
    this.#derived = derived;
    const keys = bindings.flatMap(({ spec }) =>
      secretKeysOf(spec).flatMap(({ key, kind }) => (kind === 'secret' ? [{ secret: spec.secret.name, key }] : [])),
    );
    this.#keys = [...new Map(keys.map((each) => [`${each.secret}/${each.key}`, each])).values()];
  }

  /** The same text where it holds none. */
  masked(text: string): string {
    let found = this.#current().text(text);
    for (const { mask } of this.#derived()) found = mask.forAnyone().text(found);
    return found;
  }

  /** Made anew when a file is another one, or a value is retired. */
  #current(): ReplyMask {
    const values = this.#keys.map(({ secret, key }) => this.#read(secret, key));
    const retired = [...new Set(this.#keys.map(({ secret }) => this.#store.retired(secret)))];
    const generation = retired.reduce((sum, each) => sum + each.generation, 0);
    if (generation === this.#generation && values.every((value, index) => value === this.#of[index])) return this.#mask;
    this.#of = values;
    this.#generation = generation;
    const secrets = [...values.filter((value) => value !== undefined), ...retired.flatMap((each) => each.list())];
    this.#mask = new CredentialMask({ values: secrets.flatMap((secret) => partsOf(secret.reveal())), attached: [] }).forAnyone();
    return this.#mask;
  }

  /** One that is away is retired, or was never used. */
  #read(secret: string, key: string): Secret | undefined {
    try {
      return this.#store.read(secret, key);
    } catch {
      return undefined;
    }
  }
}

const LINE_CHARS_MIN = 16;

function partsOf(value: string): readonly string[] {
  if (!value.includes('\n')) return [value];
  return [value, ...value.split(/\r?\n/).filter((line) => line.length >= LINE_CHARS_MIN && !line.startsWith('-----'))];
}

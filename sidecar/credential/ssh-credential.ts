/**
 * The SSH key of one binding: who may have it, for which host, and what to take out of a command's output. The key itself is made into an
 * object that signs, by whoever speaks the protocol; its text goes no further than that parser.
 *
 * As for HTTP: a command was assembled (`isAssembledCommand`, the very object), then its host is checked against the binding, then the key
 * is read.
 */
import { isAssembledCommand, type OutboundCommand } from '#core/contract/assemble-command.ts';
import type { BindingDestination, CompiledBinding } from '#core/contract/compiled-binding.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { CredentialMask, type Maskable } from './mask.ts';
import type { RetiredSecrets } from './retired.ts';
import type { Secret } from './secret.ts';
import type { CredentialStore } from './store.ts';

/** Who logs in where. `Key` is what the parser made of the private key. */
export interface SshLogin<Key> {
  readonly destination: BindingDestination;
  readonly user: string;
  readonly key: Key;
}

/** Throws PosternError CREDENTIAL_INVALID in words of its own. */
export type ParseSshKey<Key> = (privateKey: string, passphrase: string | undefined) => Key;

export class SshCredential<Key> {
  readonly #binding: CompiledBinding;
  readonly #store: CredentialStore;
  readonly #retired: RetiredSecrets;
  /** The values the key was made of, and the key. */
  #from: readonly Secret[] = [];
  #key: { readonly key: Key } | undefined;
  #maskable: Maskable = { values: [], attached: [] };
  #mask: { readonly mask: CredentialMask; readonly of: Maskable; readonly generation: number } | undefined;

  constructor(binding: CompiledBinding, store: CredentialStore) {
    this.#binding = binding;
    this.#store = store;
    this.#retired = store.retired(binding.spec.secret.name);
  }

  /** The login at the host of a command. @throws PosternError EGRESS_DENIED, SESSION_SUSPENDED, VAULT_LOCKED, CREDENTIAL_INVALID. */
  login(command: OutboundCommand, parse: ParseSshKey<Key>): SshLogin<Key> {
    if (!isAssembledCommand(command)) throw new PosternError('INTERNAL', 'A key was asked for a command whose host is not final.');
    const destination = this.#binding.spec.destinations.find(({ origin }) => origin === command.origin);
    if (destination === undefined)
      throw new PosternError('EGRESS_DENIED', 'The command leaves the hosts its credential may go to; nothing was sent.');
    return this.#loginAt(destination, parse);
  }

  /** The login at the one host of a binding that is a hop. @throws PosternError as `login`, and CONTRACT_NOT_READY. */
  hop(parse: ParseSshKey<Key>): SshLogin<Key> {
    const [destination, ...others] = this.#binding.spec.destinations;
    if (destination === undefined || others.length > 0)
      throw new PosternError('CONTRACT_NOT_READY', `The binding ${this.#binding.name} is a hop and does not have exactly one destination.`);
    return this.#loginAt(destination, parse);
  }

  #loginAt(destination: BindingDestination, parse: ParseSshKey<Key>): SshLogin<Key> {
    const { sshKey } = this.#binding.spec.use;
    if (sshKey === undefined) throw new PosternError('CONTRACT_NOT_READY', `The binding ${this.#binding.name} holds no sshKey.`);
    if (this.#binding.spec.suspended !== undefined)
      throw new PosternError('SESSION_SUSPENDED', 'The credential of this action is suspended.');
    const { name } = this.#binding.spec.secret;
    const passphrase = sshKey.passphraseKey === undefined ? [] : [this.#store.read(name, sshKey.passphraseKey)];
    return { destination, user: sshKey.user, key: this.#parsed([this.#store.read(name, sshKey.privateKeyKey), ...passphrase], parse) };
  }

  /** Parsed once for each version of the files: the key derivation of an encrypted key costs a tenth of a second. */
  #parsed(values: readonly Secret[], parse: ParseSshKey<Key>): Key {
    const known = this.#key;
    if (known !== undefined && values.length === this.#from.length && values.every((value, index) => value === this.#from[index]))
      return known.key;
    const [privateKey = '', passphrase] = values.map((value) => value.reveal());
    this.#maskable = { values: maskedOf(privateKey, passphrase), attached: [] };
    const key = parse(privateKey, passphrase);
    this.#from = values;
    this.#key = { key };
    return key;
  }

  /** What to take out of output: the values in use and the ones that were. The same object while none changes. */
  get mask(): CredentialMask {
    const { generation } = this.#retired;
    const of = this.#maskable;
    if (this.#mask?.of !== of || this.#mask.generation !== generation) {
      const retired = this.#retired.list().map((secret) => secret.reveal());
      this.#mask = { mask: new CredentialMask({ values: [...of.values, ...retired], attached: of.attached }), of, generation };
    }
    return this.#mask.mask;
  }
}

/** The file as it is, and its body without line ends, as it stands where somebody wrote it into one line. */
function maskedOf(privateKey: string, passphrase: string | undefined): readonly string[] {
  const body = privateKey.replace(/-----(?:BEGIN|END)[^-]*-----/g, '').replace(/\s+/g, '');
  return [privateKey, body, ...(passphrase === undefined ? [] : [passphrase])];
}

/**
 * From a compiled contract and its bindings to the remotes of its calls. What can be made once is made here: credentials,
 * the transport of each destination; a call makes only what depends on its arguments.
 */

import type { Clock } from '#core/bounds/clock.ts';
import { callCredential } from '#core/contract/call-credential.ts';
import type { CompiledContract, HttpTarget, JsonValue, SourceRules, SshTarget } from '#core/contract/compiled.ts';
import type { CompiledBinding } from '#core/contract/compiled-binding.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { BindingCredential } from '#sidecar/credential/attach.ts';
import type { CredentialStore } from '#sidecar/credential/store.ts';
import { CredentialTexts } from './credential-texts.ts';
import type { Destinations } from './http/destinations.ts';
import type { Transport } from './http/transport.ts';
import { type Fault, HttpRemote } from './http-remote.ts';
import type { Remote } from './remote.ts';
import { SshRemotes, type SshRemotesMeans } from './ssh-remotes.ts';

export interface RemotesMeans extends Pick<SshRemotesMeans, 'onHostKeyMismatch' | 'onForeignChannel' | 'onMissingExit'> {
  readonly store: CredentialStore;
  readonly destinations: Destinations;
  readonly clock: Clock;
  /** The arguments of a call hold a credential of this binding (failure case LEAK-22). */
  onAnomaly(binding: string): void;
  /** One request and its answer; status 0 where none came. */
  onExchange?(action: string, status: number, durationMs: number, bytes: number): void;
  /** Why no answer came, or none that can be believed; `thrown` is for the log only. */
  onFault?(action: string, cause: Fault, thrown: unknown): void;
}

/** The remote of one call; `source` only where the contract has sources. Throws PosternError. */
export type OpenRemote = (args: Readonly<Record<string, JsonValue>>, source: SourceRules | undefined) => Remote;

/** Bindings and their credentials, shared by all contracts of a bundle. */
export class Remotes {
  readonly #means: RemotesMeans;
  readonly #bindings: ReadonlyMap<string, CompiledBinding>;
  readonly #credentials = new Map<string, BindingCredential>();
  readonly #transports = new Map<string, Transport>();
  readonly #ssh: SshRemotes;
  readonly #texts: CredentialTexts;

  /**
   * `before`: the remotes these take the place of. A binding that is the same keeps its credential, and with it the token that was
   * fetched; the token of any other is retired, so that it is still masked while the remote takes it.
   */
  constructor(bindings: readonly CompiledBinding[], means: RemotesMeans, before?: Remotes) {
    this.#means = means;
    this.#bindings = new Map(bindings.map((binding) => [keyOf(binding.namespace, binding.name), binding]));
    this.#ssh = new SshRemotes(means, (namespace, name) => this.#bindings.get(keyOf(namespace, name)));
    this.#texts = new CredentialTexts(bindings, means.store, () => this.#credentials.values());
    if (before === undefined) return;
    for (const [key, credential] of before.#credentials) {
      if (sameBinding(before.#bindings.get(key), this.#bindings.get(key))) this.#credentials.set(key, credential);
      else credential.renew();
    }
  }

  of(contract: CompiledContract, target: HttpTarget | SshTarget): OpenRemote {
    if (target.kind === 'ssh') return this.#ssh.of(contract, target);
    const { clock } = this.#means;
    const onExchange = (status: number, durationMs: number, bytes: number) =>
      this.#means.onExchange?.(contract.action, status, durationMs, bytes);
    const onFault = (cause: Fault, thrown: unknown) => this.#means.onFault?.(contract.action, cause, thrown);
    return (args, source) => {
      const name = source?.credential ?? credentialName(contract, target, args);
      const binding = this.#bindings.get(keyOf(contract.namespace, name));
      if (binding === undefined) throw new PosternError('CONTRACT_NOT_READY', `The credential binding ${name} is not here yet.`);
      const origin = source?.origin;
      return new HttpRemote(
        {
          rules: contract.result,
          credential: this.#credential(binding),
          transport: (to) => this.#transport(binding, to),
          clock,
          ...(origin === undefined ? {} : { origin }),
          repeatable: contract.effect === 'Read',
          onAnomaly: () => this.#means.onAnomaly(name),
          onExchange,
          onFault,
        },
        args,
      );
    };
  }

  /** A text without the credentials of this bundle, whether or not a call has used them; the same one where it holds none. */
  masked(text: string): string {
    return this.#texts.masked(text);
  }

  #credential(binding: CompiledBinding): BindingCredential {
    const key = keyOf(binding.namespace, binding.name);
    let credential = this.#credentials.get(key);
    if (credential === undefined) {
      const { store, clock } = this.#means;
      credential = new BindingCredential(binding, {
        store,
        clock,
        sendTokenRequest: (request, options) => this.#transport(binding, request.origin).send(request, options),
      });
      this.#credentials.set(key, credential);
    }
    return credential;
  }

  /** One transport per binding and origin: the transport is the pool, and pools are never shared between credentials. */
  #transport(binding: CompiledBinding, origin: string): Transport {
    const credential = keyOf(binding.namespace, binding.name);
    const key = `${credential} ${origin}`;
    let transport = this.#transports.get(key);
    if (transport === undefined) {
      const destination = binding.spec.destinations.find((each) => each.origin === origin);
      if (destination === undefined)
        throw new PosternError('EGRESS_DENIED', 'The request leaves the places its credential may go to; nothing was sent.');
      const { store, destinations } = this.#means;
      const { ca, addresses } = destination;
      transport = destinations.transport({
        origin,
        credential,
        ...(addresses === undefined ? {} : { addresses }),
        ...(ca === undefined ? {} : { ca: () => store.read(binding.spec.secret.name, ca.key, 'public').reveal() }),
        ...(binding.spec.use.clientCertificate === undefined ? {} : { identity: () => this.#credential(binding).identity() }),
      });
      this.#transports.set(key, transport);
    }
    return transport;
  }
}

function sameBinding(one: CompiledBinding | undefined, other: CompiledBinding | undefined): boolean {
  return one !== undefined && other !== undefined && JSON.stringify(one.spec) === JSON.stringify(other.spec);
}

function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function credentialName(contract: CompiledContract, target: HttpTarget, args: Readonly<Record<string, JsonValue>>): string {
  const name = callCredential(contract, target, args);
  if (name === undefined || !contract.credentials.includes(name))
    throw new PosternError('INTERNAL', 'The credential of this call is none of the contract.');
  return name;
}

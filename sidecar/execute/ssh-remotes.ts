/**
 * From a contract over SSH and its bindings to the remotes of its calls: the way to each host, hop by hop, each with the pin and the key of
 * its own binding (failure case SSH-22).
 *
 * A host behind a hop is connected to by the hop. Where its binding names `addresses`, the name is resolved and vetted here and the hop gets
 * the address; else the hop gets the name, which often only it can resolve, and the pinned key alone says whether it is the right host.
 */
import type { ParsedKey } from 'ssh2';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { OutboundCommand } from '#core/contract/assemble-command.ts';
import type { CompiledContract, JsonValue, SshTarget } from '#core/contract/compiled.ts';
import type { BindingDestination, CompiledBinding } from '#core/contract/compiled-binding.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { SshFailureKind } from '#core/runtime/effect-metrics.ts';
import { SshCredential, type SshLogin } from '#sidecar/credential/ssh-credential.ts';
import type { CredentialStore } from '#sidecar/credential/store.ts';
import type { RawOutput } from '#sidecar/decode/decode-output.ts';
import type { Destinations } from './http/destinations.ts';
import type { Fault } from './http-remote.ts';
import type { Remote } from './remote.ts';
import type { SshHost } from './ssh/login.ts';
import type { HostKeyMismatch } from './ssh/ssh-failure.ts';
import { type RunnerOptions, SshRemote } from './ssh-remote.ts';

export interface SshRemotesMeans {
  readonly store: CredentialStore;
  readonly destinations: Destinations;
  readonly clock: Clock;
  onAnomaly(binding: string): void;
  onExchange?(action: string, status: number, durationMs: number, bytes: number): void;
  onFault?(action: string, cause: Fault, thrown: unknown): void;
  /** A host showed another key than the pinned one; both fingerprints are in it (failure case SSH-02). */
  onHostKeyMismatch?(action: string, mismatch: HostKeyMismatch): void;
  /** A host asked to open a channel to us. */
  onForeignChannel?(action: string): void;
  /** A command has no exit status. */
  onMissingExit?(action: string, kind: SshFailureKind): void;
}

type Login = SshLogin<ParsedKey>;

export class SshRemotes {
  readonly #means: SshRemotesMeans;
  readonly #binding: (namespace: string, name: string) => CompiledBinding | undefined;
  readonly #credentials = new Map<CompiledBinding, SshCredential<ParsedKey>>();

  constructor(means: SshRemotesMeans, binding: (namespace: string, name: string) => CompiledBinding | undefined) {
    this.#means = means;
    this.#binding = binding;
  }

  /** The remote of each call of a contract. Loads the SSH client now, so that a sidecar without such a contract never does. */
  of(contract: CompiledContract, target: SshTarget): (args: Readonly<Record<string, JsonValue>>) => Remote {
    const { action, namespace } = contract;
    const loading = loadClient();
    // Whoever runs a command awaits it; nothing is wrong before.
    loading.catch(() => undefined);
    const { clock } = this.#means;
    return (args) => {
      const binding = this.#named(namespace, target.credential);
      return new SshRemote(
        {
          rules: contract.result,
          clock,
          repeatable: contract.effect === 'Read',
          runner: {
            run: (command, options) => this.#run(binding, command, options),
            mask: () => this.#credential(binding).mask,
          },
          onAnomaly: () => this.#means.onAnomaly(binding.name),
          onExchange: (status, durationMs, bytes) => this.#means.onExchange?.(action, status, durationMs, bytes),
          onFault: (cause, thrown) => this.#means.onFault?.(action, cause, thrown),
          onHostKeyMismatch: (mismatch) => this.#means.onHostKeyMismatch?.(action, mismatch),
          onForeignChannel: () => this.#means.onForeignChannel?.(action),
          onMissingExit: (kind) => this.#means.onMissingExit?.(action, kind),
        },
        args,
      );
    };
  }

  async #run(binding: CompiledBinding, command: OutboundCommand, options: RunnerOptions): Promise<RawOutput> {
    const { runCommand, parsePrivateKey } = await loadClient();
    const last = this.#credential(binding).login(command, parsePrivateKey);
    const logins = this.#way(binding, last, parsePrivateKey);
    const [first = last] = logins;
    const byHost = new Map(logins.map((login) => [hostOf(login), login.destination]));
    return runCommand(
      {
        dial: this.#means.destinations.dialer(rulesOf(first.destination)),
        hosts: [...byHost.keys()],
        place: (host) => this.#place(byHost.get(host) ?? last.destination),
      },
      command,
      options,
    );
  }

  /** From the host that is dialled to the last one. */
  #way(binding: CompiledBinding, last: Login, parse: Parameters<SshCredential<ParsedKey>['hop']>[0]): readonly Login[] {
    const way: Login[] = [last];
    for (let via = last.destination.via; via !== undefined; ) {
      if (way.length === limits.sshHostsMax)
        throw new PosternError('CONTRACT_NOT_READY', `The hops of the binding ${binding.name} are more than ${limits.sshHostsMax - 1}.`);
      const login = this.#credential(this.#named(binding.namespace, via)).hop(parse);
      way.unshift(login);
      via = login.destination.via;
    }
    return way;
  }

  async #place(destination: BindingDestination): Promise<{ readonly host: string; readonly port: number }> {
    const { hostname, port } = new URL(destination.origin);
    const name = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
    if (destination.addresses === undefined) return name;
    const [address] = await this.#means.destinations.vetted(rulesOf(destination));
    return address === undefined ? name : { ...name, host: address };
  }

  #named(namespace: string, name: string): CompiledBinding {
    const binding = this.#binding(namespace, name);
    if (binding === undefined) throw new PosternError('CONTRACT_NOT_READY', `The credential binding ${name} is not here yet.`);
    return binding;
  }

  #credential(binding: CompiledBinding): SshCredential<ParsedKey> {
    let credential = this.#credentials.get(binding);
    if (credential === undefined) {
      credential = new SshCredential(binding, this.#means.store);
      this.#credentials.set(binding, credential);
    }
    return credential;
  }
}

function hostOf({ destination, user, key }: Login): SshHost {
  return { origin: destination.origin, user, key, hostKeys: destination.hostKeys ?? [] };
}

function rulesOf({ origin, addresses }: BindingDestination): { readonly origin: string; readonly addresses?: readonly string[] } {
  return addresses === undefined ? { origin } : { origin, addresses };
}

/** The library takes as long to load as the rest of a small start. */
async function loadClient() {
  const [{ runCommand }, { parsePrivateKey }] = await Promise.all([import('./ssh/client.ts'), import('./ssh/private-key.ts')]);
  return { runCommand, parsePrivateKey };
}

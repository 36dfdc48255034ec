/**
 * Everything the sidecar needs to call over HTTP, composed once: the mounted credentials, the destinations with their
 * connections.
 */
import type { Clock } from '#core/bounds/clock.ts';
import type { CompiledBinding } from '#core/contract/compiled-binding.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { BindingCredential } from '#sidecar/credential/attach.ts';
import { CredentialStore } from '#sidecar/credential/store.ts';
import { Destinations } from './destinations.ts';
import type { Resolve } from './egress.ts';
import type { Transport } from './transport.ts';

export interface HttpSideOptions {
  /** `--credentials DIR`: one file a key, `DIR/<secret>/<key>`. */
  readonly credentialsDirectory: string;
  /** Standalone only (`--allow-loopback`). */
  readonly allowLoopback: boolean;
  readonly clock: Clock;
  /** Default: the system's resolver. */
  readonly resolve?: Resolve;
}

export class HttpSide {
  readonly #options: HttpSideOptions;
  readonly #store: CredentialStore;
  readonly #destinations: Destinations;
  readonly #bindings = new WeakMap<CompiledBinding, Bound>();

  constructor(options: HttpSideOptions) {
    this.#options = options;
    this.#store = new CredentialStore({ directory: options.credentialsDirectory, clock: options.clock });
    this.#destinations = new Destinations(options);
  }

  /**
   * The credential of a binding and how its requests travel. The same object for the same binding object, so that connections and
   * tokens live as long as the binding does.
   * @throws PosternError CONTRACT_NOT_READY for a kind of credential that is not served.
   */
  bind(binding: CompiledBinding): Bound {
    const known = this.#bindings.get(binding);
    if (known !== undefined) return known;
    const transport = this.#transports(binding);
    const credential = new BindingCredential(binding, {
      store: this.#store,
      clock: this.#options.clock,
      sendTokenRequest: (request, options) => transport(request.origin).send(request, options),
    });
    const bound = { credential, transport };
    this.#bindings.set(binding, bound);
    return bound;
  }

  /** Lets running requests end and closes idle connections. */
  close(): void {
    this.#destinations.close();
  }

  #transports({ name, namespace, spec }: CompiledBinding): (origin: string) => Transport {
    const byOrigin = new Map<string, Transport>();
    for (const { origin, addresses, ca } of spec.destinations) {
      if (byOrigin.has(origin)) continue;
      const roots = ca === undefined ? undefined : () => this.#store.read(spec.secret.name, ca.key, 'public').reveal();
      // Other files behind the same name are another identity: their sockets are not shared.
      const credential = JSON.stringify([namespace, name, spec.secret.name, ca?.key ?? null]);
      const identity = { origin, credential, ...(addresses && { addresses }), ...(roots && { ca: roots }) };
      byOrigin.set(origin, this.#destinations.transport(identity));
    }
    return (origin) => {
      const transport = byOrigin.get(origin);
      if (transport === undefined) {
        throw new PosternError('EGRESS_DENIED', 'The request leaves the places its credential may go to; nothing was sent.');
      }
      return transport;
    };
  }
}

export interface Bound {
  readonly credential: BindingCredential;
  /** The transport to one of the binding's origins; the same object each time. Throws PosternError EGRESS_DENIED for any other. */
  readonly transport: (origin: string) => Transport;
}

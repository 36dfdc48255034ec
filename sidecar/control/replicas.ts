/**
 * The addresses of the operator. Its name may stand for one address of a Service or for every replica; a stream that ended is tried
 * elsewhere first. Name resolution is not trusted - the pod's hosts file is the agent's - and need not be: the pin decides.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { ControlFault } from './stream-end.ts';

export type Resolve = (host: string) => Promise<readonly string[]>;

export const systemResolve: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

export class Replicas {
  readonly #host: string;
  readonly #resolve: Resolve;
  readonly #random: () => number;
  /** When each address was last tried, as a count. */
  #tried = new Map<string, number>();
  #tries = 0;

  constructor(host: string, resolve: Resolve = systemResolve, random: () => number = Math.random) {
    this.#host = host;
    this.#resolve = resolve;
    this.#random = random;
  }

  /** The address that was not tried for the longest time; chance decides among new ones, so that sidecars spread. Throws ControlFault. */
  async next(): Promise<string> {
    const found = isIP(this.#host) === 0 ? await this.#resolve(this.#host).catch(unresolved) : [this.#host];
    // Only what the name stands for now is remembered: replicas come and go.
    this.#tried = new Map(found.map((address) => [address, this.#tried.get(address) ?? 0]));
    const least = Math.min(...this.#tried.values());
    const candidates = [...this.#tried].filter(([, tried]) => tried === least).map(([address]) => address);
    const chosen = candidates[Math.floor(this.#random() * candidates.length)];
    if (chosen === undefined) throw new ControlFault('name_unresolved');
    this.#tries += 1;
    this.#tried.set(chosen, this.#tries);
    return chosen;
  }
}

function unresolved(cause: unknown): never {
  throw new ControlFault('name_unresolved', cause);
}

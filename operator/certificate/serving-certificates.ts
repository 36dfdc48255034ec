/**
 * What a replica shows to API servers and sidecars: one leaf for each CA that is mounted, made in memory, renewed at half of its life.
 * A new leaf or CA is used from the next handshake on; open connections stay.
 *
 * Which leaf is chosen by the server name (SNI): a sidecar asks for the CA it pins (`pinServerName`), everybody else gets the current
 * one. So replicas may learn of a new CA minutes apart, as the kubelet brings it.
 */
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { pinServerName } from '#core/resource/names.ts';
import { type Authorities, type Authority, AuthorityError, caBundleOf, readAuthorities } from './authority.ts';
import { readAuthorityFolder } from './authority-folder.ts';
import { issueLeaf, type KeyAndCertificate } from './issue.ts';

export interface ServingOptions {
  /** As mounted. */
  readonly folder: string;
  /** DNS names of every leaf: `<service>.<namespace>.svc`. */
  readonly hosts: readonly string[];
  readonly clock: Clock;
  /** At least 0, below 1. Default Math.random: it spreads renewals, nothing depends on it. */
  random?(): number;
  /** The mounted CA cannot be used; what was read before goes on being served. Once for each new problem. */
  onProblem?(problem: AuthorityError): void;
}

interface Served {
  readonly authority: Authority;
  readonly context: SecureContext;
  /** Chain (leaf, CA) and key, for servers that take a default identity. */
  readonly identity: KeyAndCertificate;
  readonly madeAtMs: number;
  readonly notAfterMs: number;
  readonly renewAtMs: number;
}

export class ServingCertificates {
  readonly #options: ServingOptions;
  readonly #listeners = new Set<() => void>();
  #authorities: Authorities;
  #served: readonly Served[];
  #files: string;
  #problem: string | undefined;

  private constructor(options: ServingOptions, files: string, authorities: Authorities, served: readonly Served[]) {
    this.#options = options;
    this.#files = files;
    this.#authorities = authorities;
    this.#served = served;
  }

  /** Throws AuthorityError when there is no CA to begin with. */
  static async open(options: ServingOptions): Promise<ServingCertificates> {
    const files = await readAuthorityFolder(options.folder);
    const authorities = readAuthorities(files, options.clock.wallMs());
    return new ServingCertificates(options, JSON.stringify(files), authorities, await serveAll(authorities, [], options));
  }

  /** Of the CA that sidecars are to pin from now on. */
  get pin(): string {
    return this.#authorities.current.pin;
  }

  /** Of every CA that is served, the current one first. */
  get pins(): readonly string[] {
    return this.#authorities.all.map(({ pin }) => pin);
  }

  /** PEM; of the CA that is current, for what is derived from it. */
  get authorityKey(): string {
    return this.#authorities.current.keyPem;
  }

  /** PEM; what webhook configurations are to trust. */
  get caBundle(): string {
    return caBundleOf(this.#authorities);
  }

  /** For peers that send no server name. */
  get identity(): KeyAndCertificate {
    return this.#servedBy(this.#authorities.current).identity;
  }

  /** Undefined for a name that is not ours. */
  contextFor(serverName: string): SecureContext | undefined {
    const name = serverName.toLowerCase();
    if (this.#options.hosts.includes(name)) return this.#servedBy(this.#authorities.current).context;
    return this.#served.find(({ authority }) => pinServerName(authority.pin) === name)?.context;
  }

  /** Runs after a leaf or a CA changed. Returns its removal. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** When each ends, Unix time in milliseconds, by name: `leaf` (the first to end), `authority`, and those of a rotation. */
  expiriesMs(): Readonly<Record<string, number>> {
    const leaf = Math.min(...this.#served.map(({ notAfterMs }) => notAfterMs));
    return Object.fromEntries([['leaf', leaf], ...this.#authorities.all.map(({ slot, notAfterMs }) => [METRIC_NAMES[slot], notAfterMs])]);
  }

  /** Looks at the folder every limits.authorityCheckMs and renews leaves, until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#options.clock.sleep(limits.authorityCheckMs, signal).catch(() => undefined);
      if (!signal.aborted) await this.check();
    }
  }

  /** One look. Resolves once what is new is served. */
  async check(): Promise<void> {
    try {
      const files = await readAuthorityFolder(this.#options.folder);
      const text = JSON.stringify(files);
      const authorities = text === this.#files ? this.#authorities : readAuthorities(files, this.#options.clock.wallMs());
      await this.#replace(authorities);
      this.#files = text;
      this.#problem = undefined;
    } catch (error) {
      if (!(error instanceof AuthorityError)) throw error;
      this.#report(error);
      // The CA that was good goes on signing: a Secret that somebody broke must not stop admission when leaves run out.
      await this.#replace(this.#authorities);
    }
  }

  async #replace(authorities: Authorities): Promise<void> {
    const served = await serveAll(authorities, this.#served, this.#options);
    const same = authorities === this.#authorities && served.every((one, index) => one === this.#served[index]);
    if (same) return;
    this.#authorities = authorities;
    this.#served = served;
    for (const listener of this.#listeners) listener();
  }

  #report(problem: AuthorityError): void {
    if (this.#problem === problem.message) return;
    this.#problem = problem.message;
    this.#options.onProblem?.(problem);
  }

  #servedBy({ pin }: Authority): Served {
    const served = this.#served.find(({ authority }) => authority.pin === pin);
    if (served === undefined) throw new TypeError('every CA has a leaf');
    return served;
  }
}

const METRIC_NAMES = { ca: 'authority', next: 'next_authority', previous: 'previous_authority' } as const;

/** A leaf for each CA: the one it has while that is fresh, else a new one. */
function serveAll({ all }: Authorities, had: readonly Served[], options: ServingOptions): Promise<readonly Served[]> {
  const nowMs = options.clock.wallMs();
  return Promise.all(
    all.map(async (authority) => {
      const old = had.find((one) => one.authority.pin === authority.pin && one.authority.slot === authority.slot);
      return old !== undefined && isFresh(old, nowMs) ? old : serve(authority, nowMs, options);
    }),
  );
}

/** Not one from the future either: made while the clock was ahead, it would be refused by everybody until the clock gets there. */
function isFresh({ madeAtMs, renewAtMs }: Served, nowMs: number): boolean {
  return madeAtMs - limits.certificateBackdateMs <= nowMs && nowMs < renewAtMs;
}

async function serve(authority: Authority, nowMs: number, { hosts, random = Math.random }: ServingOptions): Promise<Served> {
  const leaf = await issueLeaf(authority, [...hosts, pinServerName(authority.pin)], nowMs);
  // Chain and CA: a sidecar that knows only the pin finds the certificate it belongs to in the handshake.
  const identity = { certificatePem: `${leaf.certificatePem.trim()}\n${authority.certificatePem.trim()}\n`, keyPem: leaf.keyPem };
  const life = leaf.notAfterMs - nowMs;
  return {
    authority,
    identity,
    context: createSecureContext({ cert: identity.certificatePem, key: identity.keyPem, minVersion: 'TLSv1.3' }),
    madeAtMs: nowMs,
    notAfterMs: leaf.notAfterMs,
    renewAtMs: nowMs + life / 2 - (random() * life) / 10,
  };
}

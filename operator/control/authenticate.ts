/**
 * Who a sidecar is: its token reviewed by the API server, the pod the token names read as it is now, and that pod judged by the guard.
 * Nothing the sidecar says of itself counts. The pod is read from the API server and not from a cache: the token of a pod that was
 * deleted a moment ago is still valid (failure case OPR-10).
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { SIDECAR } from '#core/resource/names.ts';
import { ControlRefusal, type ControlRefusalCode } from '#core/wire/control-refusal.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import type { PodObject } from '#operator/kube/records.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { Attempts } from './attempts.ts';
import { ReviewGate } from './review-gate.ts';
import { tokenClaims } from './token-claims.ts';

export interface Identity {
  readonly namespace: string;
  readonly account: string;
  readonly pod: PodObject;
  /** Unix time in milliseconds at which the proof ends. */
  readonly expiresMs: number;
}

export interface AuthenticatorOptions {
  readonly kube: Pick<KubeClient, 'get' | 'create'>;
  readonly clock: Clock;
  /** Why a pod as the API server has it may hold no credentials, in our own words; undefined when it may. Must not throw. */
  judge(pod: PodObject): string | undefined;
}

interface TokenReview {
  readonly spec: { readonly token: string; readonly audiences: readonly string[] };
  readonly status?: {
    readonly authenticated?: boolean;
    readonly audiences?: readonly string[];
    readonly user?: { readonly username?: string; readonly extra?: Readonly<Record<string, readonly string[]>> };
  };
}

interface TokenOwner {
  readonly namespace: string;
  readonly account: string;
  readonly podName: string;
  readonly podUid: string;
}

const POD_NAME = 'authentication.kubernetes.io/pod-name';
const POD_UID = 'authentication.kubernetes.io/pod-uid';

export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #attempts: Attempts;
  readonly #gate = new ReviewGate(limits.controlReviewsAtOnceMax, limits.controlReviewsWaitingMax);

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#attempts = new Attempts(options.clock);
  }

  /** Throws ControlRefusal. `peer` is the address the connection came from. */
  async authenticate(authorization: string | undefined, peer: string): Promise<Identity> {
    const { token, expiresMs } = this.#plausible(authorization);
    const known = this.#attempts.refusalOf(token);
    if (known !== undefined) throw known;
    this.#mayTry(peer);
    return this.#gate.run(async () => {
      // Others of this address may have failed while this one waited.
      this.#mayTry(peer);
      const owner = await this.#review(token, peer);
      const pod = await this.#podOf(owner, token, peer);
      return { namespace: owner.namespace, account: owner.account, pod, expiresMs };
    });
  }

  /** Counts an attempt that was refused later, as a second sidecar is. Its token may be the one of the first, which is to come back. */
  refused(peer: string): void {
    this.#attempts.failed(peer);
  }

  #mayTry(peer: string): void {
    if (!this.#attempts.mayTry(peer))
      throw new ControlRefusal('TOO_MANY', 'Too many attempts from this address were refused; wait a little.');
  }

  /** Refuses for nothing what a review would refuse. */
  #plausible(authorization: string | undefined): { readonly token: string; readonly expiresMs: number } {
    const token = bearer(authorization);
    const claims = token === undefined ? undefined : tokenClaims(token);
    if (token === undefined || claims === undefined)
      throw new ControlRefusal('TOKEN_REFUSED', 'Send the projected ServiceAccount token as metadata "authorization: Bearer TOKEN".');
    if (!claims.audiences.includes(SIDECAR.audience))
      throw new ControlRefusal('TOKEN_REFUSED', `The token is for another audience; project one for ${SIDECAR.audience}.`);
    if (claims.expiresMs <= this.#options.clock.wallMs())
      throw new ControlRefusal('TOKEN_REFUSED', 'The token has expired; read it from its file again.');
    return { token, expiresMs: claims.expiresMs };
  }

  async #review(token: string, peer: string): Promise<TokenOwner> {
    const spec = { token, audiences: [SIDECAR.audience] };
    const { status } = await this.#ask(() => this.#options.kube.create<TokenReview>(KINDS.tokenReviews, { spec }));
    if (status?.authenticated !== true || !(status.audiences ?? []).includes(SIDECAR.audience))
      throw this.#failed(peer, token, 'TOKEN_REFUSED', 'The API server does not accept this token.');
    const { username = '', extra = {} } = status.user ?? {};
    const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username) ?? [];
    const podName = extra[POD_NAME]?.[0];
    const podUid = extra[POD_UID]?.[0];
    if (namespace === undefined || account === undefined || podName === undefined || podUid === undefined)
      throw this.#failed(peer, token, 'TOKEN_REFUSED', 'The token is not one of a pod; only a token projected into the pod is accepted.');
    return { namespace, account, podName, podUid };
  }

  async #podOf({ namespace, account, podName, podUid }: TokenOwner, token: string, peer: string): Promise<PodObject> {
    const pod = await this.#ask(() => this.#options.kube.get<PodObject>(KINDS.pods, { namespace, name: podName }));
    const because = refusalOf(pod, podUid, account) ?? this.#options.judge(pod as PodObject);
    if (pod === null || because !== undefined)
      throw this.#failed(peer, token, 'POD_REFUSED', because ?? 'The pod is gone.', limits.controlRefusedPodMs);
    return pod;
  }

  async #ask<T>(question: () => Promise<T>): Promise<T> {
    try {
      return await question();
    } catch (cause) {
      throw new ControlRefusal('NOT_READY', 'The API server could not be asked who this is; connect again.', { cause });
    }
  }

  #failed(
    peer: string,
    token: string,
    code: ControlRefusalCode,
    because: string,
    keepMs: number = limits.controlRefusedTokenMs,
  ): ControlRefusal {
    const refusal = new ControlRefusal(code, because);
    this.#attempts.failed(peer);
    this.#attempts.remember(token, refusal, keepMs);
    return refusal;
  }
}

function bearer(authorization: string | undefined): string | undefined {
  return authorization !== undefined && authorization.length <= limits.controlTokenBytesMax
    ? /^Bearer ([A-Za-z0-9._~+/-]+=*)$/.exec(authorization)?.[1]
    : undefined;
}

/** In order; the first that holds is told. */
function refusalOf(pod: PodObject | null, uid: string, account: string): string | undefined {
  if (pod === null || pod.metadata.uid !== uid) return 'The pod this token was made for is gone.';
  if (pod.metadata.deletionTimestamp !== undefined) return 'The pod is being deleted.';
  if (['Succeeded', 'Failed'].includes(pod.status?.phase ?? '')) return 'The pod has ended.';
  if ((pod.spec.serviceAccountName ?? 'default') !== account) return 'The pod runs as another ServiceAccount than the token.';
  if ((pod.spec.nodeName ?? '') === '') return 'The pod is on no node yet.';
  // A pod without a sidecar breaks no rule of the guard: it may run. It may not be given contracts.
  if (!(pod.spec.initContainers ?? []).some(({ name }) => name === SIDECAR.container)) return 'The pod has no sidecar.';
  return undefined;
}

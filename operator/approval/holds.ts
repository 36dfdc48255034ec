/**
 * Admitted operations whose end is not known: one object for all equal calls of a ServiceAccount. It is created before the first byte and
 * deleted when the end is told; what stays is a question to a person.
 *
 * No state: under way. `Waiting`: nobody can tell, a person finds out. With a decision, expired, or past its time: over, and the next equal
 * call takes the name.
 */
import { limits } from '#core/bounds/limits.ts';
import { keyOf } from '#operator/kube/cache.ts';
import { isGone, isKubeError } from '#operator/kube/kube-error.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import type { Asker, JudgedPlan } from './judge-plan.ts';
import { holdName } from './names.ts';
import { holdObject } from './objects.ts';
import { type Refusal, refusal } from './refusal.ts';
import type { RegisterMeans, SettledOperation, Stored } from './register.ts';
import { isOver } from './standing.ts';

export type Taken =
  | { readonly kind: 'taken'; readonly hold: Stored }
  /** The same operation has it, and goes on upon it. */
  | { readonly kind: 'again' }
  | Refusal;

export class Holds {
  readonly #means: RegisterMeans;

  constructor(means: RegisterMeans) {
    this.#means = means;
  }

  /** Throws KubeError. */
  async take(asker: Asker, judged: JudgedPlan): Promise<Taken> {
    const { kube } = this.#means;
    const full = this.#tooMany(asker, judged);
    if (full !== undefined) return full;
    for (let tries = 1; ; tries += 1) {
      const object = holdObject(asker, judged, this.#means.serverNowMs());
      try {
        return { kind: 'taken', hold: await kube.create<Stored>(KINDS.approvals, object as Stored) };
      } catch (error) {
        if (!isKubeError(error, 409) || tries >= limits.approvalUseTriesMax) throw error;
      }
      const { namespace } = asker;
      const { name } = object.metadata as { readonly name: string };
      const other = await kube.get<Stored>(KINDS.approvals, { namespace, name });
      if (other === null) continue;
      const answer = this.#inTheWay(asker, judged, other);
      if (answer?.kind === 'again' && !(await this.#share(other))) continue;
      if (answer !== undefined) return answer;
      await this.giveBack(other);
    }
  }

  /** By the cache: nobody is asked to agree to a call that would be held back all the same. */
  unresolved({ namespace, serviceAccount }: Asker, { facts }: JudgedPlan): Refusal | undefined {
    const name = holdName({ serviceAccount, contract: facts.contract, argsDigest: facts.argsDigest });
    const hold = this.#means.cluster.approvals.get(keyOf({ namespace, name }));
    if (hold?.status?.state !== 'Waiting' || isOver(hold, this.#means.serverNowMs())) return undefined;
    return unknownOutcome(hold.spec.operationId);
  }

  #tooMany({ namespace, serviceAccount }: Asker, { facts }: JudgedPlan): Refusal | undefined {
    const { approvals } = this.#means.cluster;
    const nowMs = this.#means.serverNowMs();
    const name = holdName({ serviceAccount, contract: facts.contract, argsDigest: facts.argsDigest });
    if (approvals.get(keyOf({ namespace, name })) !== undefined) return undefined;
    const account = approvals.by('account', keyOf({ namespace, name: serviceAccount }));
    const open = account.filter((each) => each.spec.purpose === 'Resolve' && !isOver(each, nowMs));
    if (open.length < limits.holdsOpenMax) return undefined;
    return refusal(
      'LIMIT_EXCEEDED',
      'too_many',
      `${limits.holdsOpenMax} operations of this ServiceAccount are under way or of unknown outcome; people must find out first (kubectl postern resolve).`,
    );
  }

  /** Undefined: it is over, and may be taken. */
  #inTheWay(asker: Asker, { facts, compiled }: JudgedPlan, { spec, status }: Stored): Taken | undefined {
    if (isOver({ spec, status }, this.#means.serverNowMs())) return undefined;
    const operation = spec.operationId ?? '';
    const own = operation === facts.operationId && spec.session?.uid === asker.session.uid;
    // Under its key the remote knows it again, and nobody else has that key.
    const known = own && compiled.contract.effects.idempotency.mode === 'Key';
    if (status?.state === 'Waiting' && !known) return unknownOutcome(operation);
    if (own) return { kind: 'again' };
    return refusal('IDEMPOTENCY_BUSY', 'busy', 'An equal call of this ServiceAccount is under way; wait for its end.', operation);
  }

  async giveBack({ metadata: { namespace = '', name, uid } }: Stored): Promise<void> {
    await this.#means.kube.delete(KINDS.approvals, { namespace, name }, { uid });
  }

  /**
   * Says that the same operation goes on upon this hold, perhaps on another replica than the one that took it: whoever took it and is then
   * refused leaves it. One that waited for a person is under way again, and cannot be decided meanwhile. False when it has changed.
   */
  async #share({ metadata: { namespace = '', name, uid, resourceVersion }, spec, status }: Stored): Promise<boolean> {
    const waited = status?.state === 'Waiting';
    if (status?.usedBy !== undefined && !waited) return true;
    try {
      const underWay = waited ? { state: 'UnderWay' as const } : {};
      const patch = { metadata: { uid, resourceVersion }, status: { usedBy: spec.operationId, ...underWay } };
      await this.#means.kube.patch(KINDS.approvals, { namespace, name }, patch, { subresource: 'status' });
      return true;
    } catch (error) {
      if (isKubeError(error, 409) || isGone(error)) return false;
      throw error;
    }
  }

  /** By the one who took it and was refused, unless the same operation goes on upon it. */
  async leave(taken: Stored): Promise<void> {
    const { namespace = '', name } = taken.metadata;
    for (let hold: Stored | null = taken, tries = 1; hold !== null && tries <= limits.approvalUseTriesMax; tries += 1) {
      const { uid, resourceVersion } = hold.metadata;
      if (uid !== taken.metadata.uid || hold.status?.usedBy !== undefined) return;
      if (await this.#means.kube.delete(KINDS.approvals, { namespace, name }, { uid, resourceVersion })) return;
      hold = await this.#means.kube.get<Stored>(KINDS.approvals, { namespace, name });
    }
  }

  /** The one who sent it may say what became of it, and nobody else. Throws KubeError. */
  async settle(asker: Asker, settled: SettledOperation): Promise<void> {
    const { serviceAccount, namespace } = asker;
    const ref = { namespace, name: holdName({ serviceAccount, ...settled }) };
    for (let tries = 1; ; tries += 1) {
      const hold = await this.#means.kube.get<Stored>(KINDS.approvals, ref);
      if (hold === null || !isOpenFor(hold, asker, settled)) return;
      if (settled.end !== 'unknown') return this.giveBack(hold);
      try {
        return await this.#leaveToPerson(hold);
      } catch (error) {
        if (!isKubeError(error, 409) || tries >= limits.approvalUseTriesMax) throw error;
      }
    }
  }

  async #leaveToPerson({ metadata: { namespace = '', name, uid, resourceVersion }, status }: Stored): Promise<void> {
    if (status?.state === 'Waiting') return;
    const patch = { metadata: { uid, resourceVersion }, status: { state: 'Waiting' } };
    await this.#means.kube.patch(KINDS.approvals, { namespace, name }, patch, { subresource: 'status' });
  }
}

function unknownOutcome(operationId = ''): Refusal {
  return refusal(
    'OUTCOME_UNKNOWN',
    'unknown_outcome',
    'An equal call was sent and nobody knows whether it happened; a person must find out first (kubectl postern resolve).',
    operationId,
  );
}

function isOpenFor({ spec, status }: Stored, { session }: Asker, { operationId }: SettledOperation): boolean {
  return spec.operationId === operationId && spec.session?.uid === session.uid && status?.decision === undefined;
}

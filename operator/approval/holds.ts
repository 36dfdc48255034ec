/**
 * Admitted operations whose end is not known: one object for all equal calls of a ServiceAccount. It is created before the first byte and
 * deleted when the end is told; what stays is a question to a person.
 *
 * No state: under way. `Waiting`: nobody can tell, a person finds out. With a decision, expired, or past its time: over, and the next equal
 * call takes the name.
 */
import { limits } from '#core/bounds/limits.ts';
import { isKubeError } from '#operator/kube/kube-error.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import type { Asker, JudgedPlan } from './judge-plan.ts';
import { holdName } from './names.ts';
import { holdObject } from './objects.ts';
import { type Refusal, refusal } from './refusal.ts';
import type { RegisterMeans, SettledOperation, Stored } from './register.ts';
import { isOver } from './standing.ts';

export type Taken =
  | { readonly kind: 'taken'; readonly hold: Stored }
  /** The same operation has it, and is under way. */
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
      if (answer !== undefined) return answer;
      await this.giveBack(other);
    }
  }

  /** Undefined: it is over, and may be taken. */
  #inTheWay(asker: Asker, { facts }: JudgedPlan, { spec, status }: Stored): Taken | undefined {
    if (isOver({ spec, status }, this.#means.serverNowMs())) return undefined;
    const operation = spec.operationId ?? '';
    if (status?.state === 'Waiting')
      return refusal(
        'OUTCOME_UNKNOWN',
        'unknown_outcome',
        'An equal call was sent and nobody knows whether it happened; a person must find out first (kubectl postern resolve).',
        operation,
      );
    if (operation === facts.operationId && spec.session?.uid === asker.session.uid) return { kind: 'again' };
    return refusal('IDEMPOTENCY_BUSY', 'busy', 'An equal call of this ServiceAccount is under way; wait for its end.', operation);
  }

  async giveBack({ metadata: { namespace = '', name, uid } }: Stored): Promise<void> {
    await this.#means.kube.delete(KINDS.approvals, { namespace, name }, { uid });
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

function isOpenFor({ spec, status }: Stored, { session }: Asker, { operationId }: SettledOperation): boolean {
  return spec.operationId === operationId && spec.session?.uid === session.uid && status?.decision === undefined;
}

/**
 * Writing `status.decision`, once, as the person of the kubeconfig. Admission proves who decided and on which card, with the operator up or
 * down; what is checked here first is only said in better words.
 */
import { limits } from '#core/bounds/limits.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { ActionApproval } from '#core/resource/gen/action-approval.ts';
import type { ActionContract } from '#core/resource/gen/action-contract.ts';
import { GROUP, VERB } from '#core/resource/names.ts';
import { isKubeError } from '#operator/kube/kube-error.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { findApproval, stateOf } from './cluster-approvals.ts';
import type { ClusterConnection } from './cluster-connection.ts';
import { ClusterRefused, UsageError } from './report-failure.ts';
import { age } from './table.ts';

export type Decision = NonNullable<NonNullable<ActionApproval['status']>['decision']>;
export type Answer = Omit<Decision, 'approver'>;

/** A write that meets a newer version looks again: the operator may only have written what it is waiting for. */
const WRITES_MAX = 5;

/** Throws UsageError where the question can no longer be answered, and for a reason that is too long. */
export function checkOpen(approval: ActionApproval, reason: string | undefined, nowMs = Date.now()): void {
  const { metadata, spec, status } = approval;
  const name = visibleText(metadata.name);
  const state = stateOf(approval, nowMs);
  if (status?.decision !== undefined) {
    const { verdict, approver } = status.decision;
    throw new UsageError(
      `${name} is decided: ${verdict} by ${visibleText(approver)}`,
      'A decision is made once. The agent asks again by calling again, with a new card.',
    );
  }
  if (state === 'Expired')
    throw new UsageError(
      `${name} expired ${age(spec.expiresAt, nowMs)} ago`,
      'What was asked never runs. The agent asks again by calling again, with a new card.',
    );
  if (state === 'UnderWay')
    throw new UsageError(
      `the operation of ${name} is still under way`,
      'Whether it was done can be said once its state is Waiting: kubectl postern approvals.',
    );
  if (state !== 'Waiting') throw new UsageError(`${name} waits for nobody: ${visibleText(state)}`, 'Look at kubectl postern approvals.');
  if (reason !== undefined && [...reason].length > limits.approvalReasonCharsMax)
    throw new UsageError(`--reason is longer than ${limits.approvalReasonCharsMax} characters`, 'Say it in fewer words.');
}

/** Returns the name of the person. Throws UsageError, ClusterRefused, KubeError. */
export async function decideAs(cluster: ClusterConnection, approval: ActionApproval, answer: Answer): Promise<string> {
  const approver = await ownName(cluster);
  await checkMay(cluster, approval, approver);
  let current = approval;
  for (let writes = 1; ; writes += 1) {
    try {
      await write(cluster, current, { approver, ...answer });
      return approver;
    } catch (error) {
      if (!isKubeError(error, 409) || writes === WRITES_MAX) throw error;
      const next = await findApproval(cluster, approval.metadata.name);
      // Another object of that name is another question: nobody has read its card.
      if (next.metadata.uid !== approval.metadata.uid)
        throw new UsageError(`${visibleText(approval.metadata.name)} is another question now`, 'Read its card: kubectl postern approvals.');
      checkOpen(next, undefined);
      current = next;
    }
  }
}

/** With the version that was read: whatever was written since is looked at before it is written over. */
async function write(cluster: ClusterConnection, { metadata }: ActionApproval, decision: Decision): Promise<void> {
  const { name, namespace = cluster.namespace, resourceVersion } = metadata;
  const patch = { metadata: { resourceVersion }, status: { decision } };
  await cluster.client.patch(KINDS.approvals, { name, namespace }, patch, { subresource: 'status' });
}

async function ownName({ client }: ClusterConnection): Promise<string> {
  const review = await client.create<{ readonly status?: { readonly userInfo?: { readonly username?: string } } }>(
    KINDS.selfSubjectReviews,
    {},
  );
  const name = review.status?.userInfo?.username;
  if (name !== undefined && name !== '') return name;
  throw new ClusterRefused('the API server does not say who you are', 'Log in again: a decision needs a name.', undefined);
}

async function checkMay(cluster: ClusterConnection, { metadata, spec }: ActionApproval, approver: string): Promise<void> {
  const { namespace = cluster.namespace } = metadata;
  if (approver === `system:serviceaccount:${namespace}:${spec.serviceAccount}`)
    throw new ClusterRefused(
      `${spec.serviceAccount} is who asks, and an agent never decides about itself`,
      'A person decides; use the kubeconfig of one.',
      undefined,
    );
  const resourceAttributes = { group: GROUP, resource: KINDS.contracts.plural, name: spec.contract, namespace, verb: VERB.approve };
  const review = await cluster.client.create<{ readonly spec: object; readonly status?: { readonly allowed?: boolean } }>(
    KINDS.selfSubjectAccessReviews,
    { spec: { resourceAttributes } },
  );
  if (review.status?.allowed === true) return;
  const owner = await ownerOf(cluster, namespace, spec.contract);
  throw new ClusterRefused(
    `${visibleText(approver)} may not approve calls of ${visibleText(spec.contract)} in ${namespace}`,
    `Ask ${owner}to decide, or whoever administers ${namespace} for the role postern-approver there (verb approve on actioncontracts).`,
    undefined,
  );
}

/** `TEAM, which owns it, `; nothing where the contract cannot be read. */
async function ownerOf({ client }: ClusterConnection, namespace: string, name: string): Promise<string> {
  try {
    const contract = await client.get<ActionContract>(KINDS.contracts, { namespace, name });
    return contract === null ? 'somebody who may ' : `${visibleText(contract.spec.owner)}, which owns it, `;
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return 'somebody who may ';
  }
}

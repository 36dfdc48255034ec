/** The fixed guards: what the chart ships, and what the operator and the tests compare a cluster with. */
import { ANNOTATION } from '#core/resource/names.ts';
import { connectPolicy, tokenPolicy } from './connect-policies.ts';
import { bindingPolicy, contractPolicy } from './grant-policies.ts';
import { podPolicy, reservedPolicy } from './pod-policies.ts';
import { type Guard, type GuardSettings, POLICY_API_VERSION } from './policy.ts';
import { approvalPolicy, operatorPodsPolicy, sessionPolicy, statusPolicy } from './record-policies.ts';
import { templatePolicy } from './template-policy.ts';

/** In the order in which a person would read them. Pure: equal settings, equal text. */
export function policies(settings: GuardSettings): readonly Guard[] {
  return [
    reservedPolicy(settings),
    podPolicy(settings),
    connectPolicy(settings),
    tokenPolicy(),
    templatePolicy(settings),
    bindingPolicy(),
    contractPolicy(),
    statusPolicy(settings),
    sessionPolicy(settings),
    approvalPolicy(settings),
    operatorPodsPolicy(settings, ANNOTATION.credentialsTouched),
  ];
}

export interface GuardObject {
  readonly apiVersion: string;
  readonly kind: 'ValidatingAdmissionPolicy' | 'ValidatingAdmissionPolicyBinding';
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly object[];
  };
  readonly spec: Guard['policy'] | Guard['binding'];
}

/** Policy and binding as objects of the API. */
export function guardObjects({ name, policy, binding }: Guard): readonly [GuardObject, GuardObject] {
  const metadata = { name };
  return [
    { apiVersion: POLICY_API_VERSION, kind: 'ValidatingAdmissionPolicy', metadata, spec: policy },
    { apiVersion: POLICY_API_VERSION, kind: 'ValidatingAdmissionPolicyBinding', metadata, spec: binding },
  ];
}

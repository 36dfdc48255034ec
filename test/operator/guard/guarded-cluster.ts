/**
 * A real API server with the CRDs and the guards, and no operator: what these tests see, a cluster sees while Postern is down.
 * Requests are made as other people by impersonation, which admission cannot tell from a login.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
// Not undici: it joins repeated headers by commas, and two groups would be one of a strange name.
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import { type GuardObject, guardObjects, policies } from '#operator/guard/policies.ts';
import { type Guard, type GuardSettings, guard } from '#operator/guard/policy.ts';
import { sidecarPolicy } from '#operator/guard/sidecar-policy.ts';
import { type AllowedRelease, allowedRelease } from '#operator/guard/sidecar-release.ts';
import { type SidecarRelease, sidecarContainer } from '#operator/pod/sidecar-container.ts';
import { sidecarVolumes } from '#operator/pod/sidecar-volumes.ts';
import { sizeClasses } from '#operator/settings.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';

export const settings: GuardSettings = { namespace: 'postern', serviceAccount: 'postern-operator' };
export const operator = account('postern', 'postern-operator');
export const sizes = sizeClasses('small=20m/500m/96Mi/192Mi,large=100m/1000m/192Mi/1024Mi');
export const release: SidecarRelease = {
  image: `registry.example.com/postern@sha256:${'a'.repeat(64)}`,
  pullPolicy: 'IfNotPresent',
  control: 'postern-operator.postern.svc:7720',
  pin: `sha256:${'b'.repeat(64)}`,
};
export const releases: readonly AllowedRelease[] = [allowedRelease(release, sizes)];

export interface Person {
  readonly user: string;
  readonly groups: readonly string[];
}

export function account(namespace: string, name: string): Person {
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  return { user: `system:serviceaccount:${namespace}:${name}`, groups };
}

export function person(user: string, ...groups: readonly string[]): Person {
  return { user, groups: [...groups, 'system:authenticated'] };
}

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the API server sends
  readonly body: any;
  readonly warnings: string;
}

export interface CallOptions {
  readonly as?: Person;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface GuardedCluster extends AsyncDisposable {
  readonly kube: KubeApiserver;
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** Installs guards, and returns once the API server acts on them. */
  install(guards: readonly Guard[]): Promise<void>;
}

export async function startGuardedCluster(guards: readonly Guard[] = allGuards()): Promise<GuardedCluster> {
  const kube = await startKubeApiserver();
  const agent = new Agent({ ca: kube.caPem, keepAlive: true });
  const call = caller(agent, kube);
  await installCrds(call);
  for (const namespace of ['postern', 'plain', 'agents']) await createNamespace(call, namespace, namespace === 'agents');
  const install = (wanted: readonly Guard[]) => installGuards(call, wanted);
  await install(guards);
  return {
    kube,
    call,
    install,
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await kube[Symbol.asyncDispose]();
    },
  };
}

export function allGuards(): readonly Guard[] {
  return [...policies(settings), sidecarPolicy(settings, releases)];
}

type Call = GuardedCluster['call'];

function caller(shared: Agent, { url, adminToken, caPem }: KubeApiserver): Call {
  return async (method, path, body, { as, contentType, headers: extra } = {}) => {
    const type = contentType ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
    const sent = body === undefined ? '' : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${adminToken}`,
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': type, 'content-length': Buffer.byteLength(sent) }),
      ...extra,
      ...(as !== undefined && { 'impersonate-user': as.user, 'impersonate-group': [...as.groups] }),
    };
    // What was asked to upgrade is of no use to others.
    const agent = extra === undefined ? shared : new Agent({ ca: caPem });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${url}${path}`, { agent, method, headers }, resolve).once('error', reject).end(sent);
    });
    return { status: response.statusCode ?? 0, body: parse(await text(response)), warnings: String(response.headers.warning ?? '') };
  };
}

function parse(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch {
    return answer;
  }
}

async function installCrds(call: Call): Promise<void> {
  const folder = join(import.meta.dirname, '../../../crds');
  const names: string[] = [];
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.yaml'))) {
    const crd = parseAllDocuments(readFileSync(join(folder, file), 'utf8'))[0]?.toJS();
    names.push(crd.metadata.name);
    expectStatus(await call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd), 201);
  }
  for (const name of names) {
    const plural = name.split('.')[0];
    await until(`the API server serves ${name}`, async () => (await call('GET', `/apis/postern.dev/v1alpha1/${plural}`)).status === 200);
  }
}

export async function createNamespace(call: Call, name: string, enforced: boolean): Promise<void> {
  const labels = enforced ? { 'postern.dev/enforce': '' } : {};
  expectStatus(await call('POST', '/api/v1/namespaces', { metadata: { name, labels } }), 201);
  // No controller makes it here, and ServiceAccount admission refuses pods without it.
  expectStatus(await call('POST', `/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } }), 201);
}

async function installGuards(call: Call, guards: readonly Guard[]): Promise<void> {
  for (const { name, policy, binding } of guards) {
    for (const object of guardObjects({ name, about: '', policy, binding })) {
      const path = `${pathOf(object)}?fieldManager=test&force=true`;
      const answer = await call('PATCH', path, object, { contentType: 'application/apply-patch+yaml' });
      if (answer.status > 201) throw new Error(`${name}: ${String(answer.body.message).slice(0, 1500)}`);
    }
  }
  // The API server takes policies over in the order of their changes: when it acts on the last one, it acts on all.
  const marker = `marker-${Date.now()}`;
  const last = guard({
    name: marker,
    about: 'Shows when the policies before it are in effect.',
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
    validations: [{ expression: `object.metadata.name != '${marker}'`, message: 'in effect' }],
  });
  for (const object of guardObjects(last)) expectStatus(await call('POST', collectionOf(object), object), 201);
  const probe = { metadata: { name: marker } };
  await until('the policies are in effect', async () => {
    return (await call('POST', '/api/v1/namespaces/default/configmaps?dryRun=All', probe)).status === 403;
  });
}

export function collectionOf({ kind }: GuardObject): string {
  const plural = kind === 'ValidatingAdmissionPolicy' ? 'validatingadmissionpolicies' : 'validatingadmissionpolicybindings';
  return `/apis/admissionregistration.k8s.io/v1/${plural}`;
}

export function pathOf(object: GuardObject): string {
  return `${collectionOf(object)}/${object.metadata.name}`;
}

export function expectStatus({ status, body }: Answer, wanted: number): void {
  if (status !== wanted) throw new Error(`${status} instead of ${wanted}: ${JSON.stringify(body.message ?? body)}`);
}

export async function until(what: string, done: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await done())) {
    if (performance.now() > deadline) throw new Error(`gave up waiting: ${what}`);
    await sleep(100);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests break pods in every way
export type Pod = any;

/** A pod without anything to do with Postern. */
export function plainPod(name = 'plain'): Pod {
  return { metadata: { name }, spec: { containers: [{ name: 'agent', image: 'registry.example.com/agent' }] } };
}

/** A pod as the operator injects it. */
export function injectedPod(name = 'injected', size = 0): Pod {
  const pod = plainPod(name);
  pod.metadata.labels = { 'postern.dev/inject': 'true' };
  pod.spec.initContainers = [structuredClone(sidecarContainer(release, sizes[size] ?? sizes[0]!))];
  pod.spec.volumes = structuredClone(sidecarVolumes([{ secret: 'postern-github', keys: ['token'] }]));
  return pod;
}

export const podsOf = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`;
export const DRY = '?dryRun=All';

/** The guards refused it, in words that match. */
export function expectRefused({ status, body }: Answer, words: RegExp): void {
  if (status !== 403 || !words.test(body.message)) throw new Error(`${status} is not a refusal of ${words}: ${body.message ?? 'accepted'}`);
}

export function expectAllowed({ status, body }: Answer): void {
  if (status !== 200 && status !== 201) throw new Error(`${status}: ${JSON.stringify(body.message ?? body)}`);
}

/** A Role for a person or an account in one namespace. */
export async function allow(call: Call, namespace: string, { user }: Person, ...rules: readonly object[]): Promise<void> {
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const role = await call('POST', `${rbac}/roles`, { metadata: { generateName: 'test-' }, rules });
  expectAllowed(role);
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role.body.metadata.name };
  const subjects = [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }];
  expectAllowed(await call('POST', `${rbac}/rolebindings`, { metadata: { generateName: 'test-' }, roleRef, subjects }));
}

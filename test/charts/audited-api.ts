/** A real API server with the chart's objects in it, which writes down who asked for what. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Connection, connectionTo } from '#operator/kube/connect.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';
import { type KubeObject, namespace, rendered, type Tools, toolsFor } from './release.ts';

export interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource: string; readonly apiGroup?: string; readonly subresource?: string };
  readonly responseStatus?: { readonly code: number; readonly message?: string };
}

export interface AuditedApi extends AsyncDisposable {
  readonly kube: KubeApiserver;
  readonly tools: Tools;
  /** What of the chart is in it: all but what needs a node. */
  readonly objects: readonly KubeObject[];
  /** As a ServiceAccount of the operator's namespace. */
  connect(account: string): Promise<Connection>;
  /** What that account asked for, so far. */
  asked(account: string): readonly AuditEvent[];
}

export async function startAuditedApi(values: readonly string[]): Promise<AuditedApi> {
  const folder = mkdtempSync(join(tmpdir(), 'postern-audit-'));
  const log = join(folder, 'audit.log');
  const policy = {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived', 'ResponseStarted'],
    rules: [{ level: 'Metadata' }],
  };
  writeFileSync(join(folder, 'policy.yaml'), JSON.stringify(policy));
  const kube = await startKubeApiserver({ flags: [`--audit-log-path=${log}`, `--audit-policy-file=${join(folder, 'policy.yaml')}`] });
  const tools = toolsFor(kube);
  const objects = (await rendered([...values, '--skip-tests'])).filter(({ kind }) => kind !== 'Deployment' && kind !== 'Job');
  await tools.kubectl('create', 'namespace', namespace);
  // Nothing routes to an operator here: its webhooks are not asked.
  const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
  const unasked = text.replaceAll('"failurePolicy":"Fail","matchPolicy"', '"failurePolicy":"Ignore","matchPolicy"');
  const applied = await tools.kubectlWith(unasked, 'apply', '--server-side', '-f', '-');
  assert.equal(applied.status, 0, applied.stderr);
  await tools.kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  return {
    kube,
    tools,
    objects,
    async connect(account) {
      const token = await kube.createServiceAccountToken(namespace, account);
      const headers = async () => ({ authorization: `Bearer ${token}` });
      return connectionTo({ server: kube.url, tls: { ca: kube.caPem, rejectUnauthorized: true }, namespace, headers });
    },
    asked(account) {
      const events = readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line !== '');
      return events
        .map((line) => JSON.parse(line) as AuditEvent)
        .filter(({ user, objectRef }) => user.username === `system:serviceaccount:${namespace}:${account}` && objectRef !== undefined);
    },
    async [Symbol.asyncDispose]() {
      tools[Symbol.dispose]();
      await kube[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const rightOf = (verb: string, resource: string, group: string) => `${verb} ${resource}${group === '' ? '' : `.${group}`}`;

/** Rights of all roles of this name, as `verb resource.group`. */
export function grantedTo(role: string, objects: readonly KubeObject[]): readonly string[] {
  const rules = objects
    .filter(({ kind, metadata }) => /Role$/.test(kind) && metadata.name === role)
    .flatMap(({ rules: all }) => all as Rule[]);
  return rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => rightOf(verb, resource, group)))),
  );
}

/**
 * Nothing was refused, and nothing is granted that was not asked for, but what `notPlayed` lists with its reason. A watch is written
 * down when it has ended, and the API server sees the end of a connection in its own time: so this waits for what is missing.
 */
export async function assertExact(api: AuditedApi, account: string, notPlayed: Readonly<Record<string, string>>): Promise<void> {
  const granted = grantedTo(account, api.objects).filter((right) => notPlayed[right] === undefined);
  const idle = () => {
    const asked = new Set(api.asked(account).map(rightAsked));
    return granted.filter((right) => !asked.has(right));
  };
  for (let tries = 0; idle().length > 0 && tries < 600; tries += 1) await setTimeout(100);
  const refused = api.asked(account).filter(({ responseStatus }) => responseStatus?.code === 403);
  assert.deepEqual(
    refused.map(({ verb, objectRef, responseStatus }) => `${verb} ${objectRef?.resource}: ${responseStatus?.message}`),
    [],
  );
  assert.deepEqual(idle(), [], 'granted, never asked for');
}

const rightAsked = ({ verb, objectRef: { resource = '', apiGroup = '', subresource } = { resource: '' } }: AuditEvent) =>
  rightOf(verb, subresource === undefined ? resource : `${resource}/${subresource}`, apiGroup);

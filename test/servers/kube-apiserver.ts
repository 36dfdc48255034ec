/**
 * A real Kubernetes control plane for tests: etcd and kube-apiserver, no nodes, no controllers.
 * What controllers make in a cluster is absent: a new namespace has no `default` ServiceAccount, and
 * nothing collects garbage. From `KUBEBUILDER_ASSETS` it needs Kubernetes 1.33 or newer (see featureGates).
 */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Agent, request as httpRequest } from 'undici';
import { programPath } from './build.ts';
import { createAuthority, createSigningKey } from './certificates.ts';
import { freePorts, type Launched, loopback, startIn, type Workspace } from './process.ts';

export interface KubeAnswer<Body> {
  readonly status: number;
  readonly body: Body;
}

export interface KubeApiserverOptions {
  /** Over the defaults of this version and the one named at `startApiserver`. */
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /** More command-line flags of kube-apiserver, whole (`--name=value`). */
  readonly flags?: readonly string[];
}

export interface KubeApiserver extends AsyncDisposable {
  /** `https://127.0.0.1:PORT`, without a trailing slash. */
  readonly url: string;
  readonly caPem: string;
  /** Bearer token of a member of `system:masters`. */
  readonly adminToken: string;
  /**
   * One call as admin; `path` begins with `/`. A body goes as JSON, with PATCH as a merge patch.
   * Resolves for every status. `Body` is what the caller expects, unchecked.
   */
  request<Body = unknown>(method: string, path: string, body?: unknown): Promise<KubeAnswer<Body>>;
  /** Creates the ServiceAccount if need be and returns a token of one hour for it (TokenRequest). */
  createServiceAccountToken(namespace: string, name: string): Promise<string>;
  /**
   * Compacts etcd to its current revision. Resolves once every `continue` token handed out before
   * gets 410 Expired, and every list or watch from an older resource version does too.
   */
  compact(): Promise<void>;
  logTail(): string;
}

export function startKubeApiserver(options: KubeApiserverOptions = {}): Promise<KubeApiserver> {
  return startIn('kube-apiserver', async (place) => {
    const [etcdPort, apiPort] = (await freePorts(2)) as [number, number];
    const etcdUrl = `http://${loopback}:${etcdPort}`;
    await startEtcd(place, etcdUrl);
    const { launch, ...access } = await prepareApiserver(place, { etcdUrl, port: apiPort, ...options });
    await launch();
    const agent = new Agent({ connect: { ca: access.caPem } });
    const request = requester(agent, access);
    return {
      ...access,
      request,
      createServiceAccountToken: (namespace, name) => createToken(request, namespace, name),
      compact: () => compactEtcd(etcdUrl),
      logTail: place.logTail,
      async [Symbol.asyncDispose]() {
        await agent.destroy();
        await place[Symbol.asyncDispose]();
      },
    };
  });
}

export interface Access {
  readonly url: string;
  readonly caPem: string;
  readonly adminToken: string;
}

/** Where and for whom an API server serves, beyond what a test of the API alone needs. */
export interface Placement {
  readonly etcdUrl: string;
  readonly port: number;
  /** Literal address to listen on; default loopback. */
  readonly host?: string;
  /** More names and addresses of its certificate. */
  readonly hosts?: readonly string[];
  /** More lines of the token file, `token,user,uid,"group,group"`. */
  readonly users?: readonly string[];
}

export interface PreparedApiserver extends Access {
  readonly files: ApiserverFiles;
  /** Starts it and resolves once ready; again after a kill, with the same certificates and tokens. */
  launch(): Promise<Launched>;
}

type Request = KubeApiserver['request'];

export async function startEtcd(place: Workspace, url: string): Promise<void> {
  await place.launch({
    program: await programPath('etcd'),
    args: [
      `--data-dir=${join(place.folder, 'etcd')}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      // A single member never calls its peer address; port 0 lets two servers start side by side.
      `--listen-peer-urls=http://${loopback}:0`,
      '--unsafe-no-fsync',
      '--logger=zap',
      '--log-level=warn',
    ],
    ready: async () => {
      const answer = await fetch(`${url}/health`);
      return answer.ok && ((await answer.json()) as { health?: string }).health === 'true';
    },
  });
}

export async function prepareApiserver(
  place: Workspace,
  { etcdUrl, port, host = loopback, hosts = [], users = [], featureGates, flags = [] }: KubeApiserverOptions & Placement,
): Promise<PreparedApiserver> {
  const url = `https://${host}:${port}`;
  const adminToken = randomBytes(24).toString('base64url');
  const tokens = [`${adminToken},admin,admin,system:masters`, ...users, ''].join('\n');
  const { caPem, files } = await writeFiles(place.folder, tokens, [host, loopback, 'localhost', 'kubernetes.default.svc', ...hosts]);
  const gates = {
    // With it, pages come from snapshots in memory and a compaction takes up to 15 s to reach them;
    // without it, each page is read from etcd and the same 410 comes at once.
    ListFromCacheSnapshot: false,
    ...featureGates,
  };
  const args = [
    `--etcd-servers=${etcdUrl}`,
    '--etcd-compaction-interval=0',
    `--bind-address=${host}`,
    `--advertise-address=${host}`,
    `--secure-port=${port}`,
    `--tls-cert-file=${files.certificate}`,
    `--tls-private-key-file=${files.key}`,
    `--client-ca-file=${files.ca}`,
    `--token-auth-file=${files.tokens}`,
    `--kubelet-client-certificate=${files.clientCertificate}`,
    `--kubelet-client-key=${files.clientKey}`,
    '--kubelet-preferred-address-types=InternalIP',
    `--service-account-issuer=${url}`,
    `--service-account-key-file=${files.accountPublic}`,
    `--service-account-signing-key-file=${files.accountPrivate}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--allow-privileged=true',
    // Loopback is no valid endpoint of the `kubernetes` Service, and nothing there needs that Service.
    ...(host === loopback ? ['--endpoint-reconciler-type=none'] : []),
    `--feature-gates=${Object.entries(gates)
      .map(([name, on]) => `${name}=${on}`)
      .join(',')}`,
    ...flags,
  ];
  const launch = async () =>
    place.launch({ program: await programPath('kube-apiserver'), args, ready: () => isReady({ url, caPem, adminToken }) });
  return { url, caPem, adminToken, files, launch };
}

async function isReady({ url, caPem, adminToken }: Access): Promise<boolean> {
  const agent = new Agent({ connect: { ca: caPem } });
  try {
    const headers = { authorization: `Bearer ${adminToken}` };
    const { statusCode, body } = await httpRequest(`${url}/readyz`, { dispatcher: agent, headers });
    await body.dump();
    return statusCode === 200;
  } finally {
    await agent.destroy();
  }
}

type ApiserverFiles = Readonly<
  Record<'ca' | 'certificate' | 'key' | 'clientCertificate' | 'clientKey' | 'tokens' | 'accountPublic' | 'accountPrivate', string>
>;

async function writeFiles(folder: string, tokens: string, hosts: readonly string[]) {
  const authority = await createAuthority('Postern test cluster CA');
  const serving = await authority.issue({ commonName: 'kube-apiserver', hosts });
  // What the API server shows to kubelets.
  const client = await authority.issue({ commonName: 'kube-apiserver', organization: 'system:masters' });
  const account = createSigningKey();
  const files: ApiserverFiles = {
    ca: join(folder, 'ca.pem'),
    certificate: join(folder, 'serving.pem'),
    key: join(folder, 'serving-key.pem'),
    clientCertificate: join(folder, 'client.pem'),
    clientKey: join(folder, 'client-key.pem'),
    tokens: join(folder, 'tokens.csv'),
    accountPublic: join(folder, 'account.pub'),
    accountPrivate: join(folder, 'account.key'),
  };
  const contents: Readonly<Record<keyof typeof files, string>> = {
    ca: authority.caPem,
    certificate: serving.certificatePem,
    key: serving.keyPem,
    clientCertificate: client.certificatePem,
    clientKey: client.keyPem,
    tokens,
    accountPublic: account.publicPem,
    accountPrivate: account.privatePem,
  };
  for (const [name, path] of Object.entries(files)) {
    await writeFile(path, contents[name as keyof typeof files], { mode: 0o600 });
  }
  return { caPem: authority.caPem, files };
}

export function requester(agent: Agent, { url, adminToken }: Access): Request {
  return async <Body>(method: string, path: string, body?: unknown) => {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await httpRequest(`${url}${path}`, {
      dispatcher: agent,
      method: method as 'GET',
      headers: {
        authorization: `Bearer ${adminToken}`,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': contentType }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    return { status: response.statusCode, body: parse(text) as Body };
  };
}

// Some paths (/readyz, a refused login) answer plain text.
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export async function createToken(request: Request, namespace: string, name: string): Promise<string> {
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } };
  const created = await request('POST', accounts, account);
  if (created.status !== 201 && created.status !== 409) fail('create the ServiceAccount', created);
  const answer = await request<{ status?: { token?: string } }>('POST', `${accounts}/${name}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 3600 },
  });
  return answer.body.status?.token ?? fail('create the token', answer);
}

/** Through etcd's own JSON gateway, so that no etcdctl is needed. */
export async function compactEtcd(etcdUrl: string): Promise<void> {
  // The write makes the current revision newer than any list a token could stem from: compacting to
  // revision N keeps reads *at* N working.
  const marker = { key: encode('postern-test/compacted'), value: encode(new Date().toISOString()) };
  const put = await etcdCall<{ header: { revision: string } }>(`${etcdUrl}/v3/kv/put`, marker);
  await etcdCall(`${etcdUrl}/v3/kv/compaction`, { revision: put.header.revision, physical: true });
}

async function etcdCall<Body>(url: string, body: unknown): Promise<Body> {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`etcd ${url}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Body;
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}

function fail(what: string, answer: KubeAnswer<unknown>): never {
  throw new Error(`Cannot ${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

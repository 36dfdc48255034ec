/**
 * The Secret that holds the operator's CA, for `postern authority` alone: the operator has no verb on Secrets and reads what the kubelet
 * mounts. Keys go from memory into the request and nowhere else.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { AUTHORITY, SIDECAR } from '#core/resource/names.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import { isKubeError } from '#operator/kube/kube-error.ts';
import type { KubeObject } from '#operator/kube/records.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { type Authority, AuthorityError, readAuthorities } from './authority.ts';
import { refusalOf, rotated, type Stage } from './authority-rotation.ts';
import { certificatesIn } from './ca-bundle-contest.ts';
import { createAuthority } from './issue.ts';
import { bundlesIn, readConfiguration, WEBHOOK_KINDS } from './webhook-configuration.ts';

interface AuthoritySecret extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

export interface SecretPlace {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
}

/** A CA as it may be printed. */
export type ShownAuthority = Pick<Authority, 'slot' | 'pin' | 'notAfterMs'>;

export interface AuthorityOutcome {
  /** False when the Secret was there. */
  readonly changed: boolean;
  readonly authorities: readonly ShownAuthority[];
}

/** Makes the Secret where there is none; one that is there stays as it is. Throws KubeError, and AuthorityError when it cannot be used. */
export async function ensureAuthority({ client, namespace, clock }: SecretPlace): Promise<AuthorityOutcome> {
  const found = await read(client, namespace);
  if (found !== null) return { changed: false, authorities: shown(filesIn(found), clock) };
  const fresh = await createAuthority(clock.wallMs());
  const files = { 'ca.crt': fresh.certificatePem, 'ca.key': fresh.keyPem };
  try {
    await client.create<object>(KINDS.secrets, {
      metadata: { name: AUTHORITY.secret, namespace, annotations: since(clock), labels: { 'app.kubernetes.io/name': 'postern' } },
      type: 'Opaque',
      data: encoded(files),
    });
  } catch (error) {
    if (!isKubeError(error, 409)) throw error;
    // Another run was first; its key is the one that counts.
    return ensureAuthority({ client, namespace, clock });
  }
  return { changed: true, authorities: shown(files, clock) };
}

export interface RotateOptions extends SecretPlace {
  readonly stage: Stage;
  readonly atOnce: boolean;
  readonly abandon: boolean;
}

/** One step of a rotation. Throws AuthorityError for a step that may not be taken, KubeError 409 when somebody else took one meanwhile. */
export async function rotateAuthority({ client, namespace, clock, stage, atOnce, abandon }: RotateOptions): Promise<AuthorityOutcome> {
  const found = await read(client, namespace);
  if (found === null)
    throw new AuthorityError(`There is no Secret ${AUTHORITY.secret} in namespace ${namespace}: run \`postern authority create\`.`);
  const files = filesIn(found);
  const { all } = readAuthorities(files, clock.wallMs()); // one that cannot be used is not rotated
  const previous = all.find(({ slot }) => slot === 'previous');
  const pinnedBy = stage === 'drop' && previous !== undefined ? await podsThatPin(client, previous.pin) : [];
  const nextTrusted = stage === 'switch' ? await isTrusted(client, files['next.crt'] ?? '') : 'unknown';
  const facts = { files: Object.keys(files), sinceMs: sinceOf(found, clock), nextTrusted, pinnedBy, atOnce, abandon };
  const refusal = refusalOf(stage, facts);
  if (refusal !== undefined) throw new AuthorityError(refusal);
  const change = rotated(stage, files, stage === 'next' ? await createAuthority(clock.wallMs()) : undefined);
  const after = Object.fromEntries(Object.entries({ ...files, ...change }).filter((entry): entry is [string, string] => entry[1] !== null));
  const authorities = shown(after, clock);
  const metadata = { resourceVersion: found.metadata.resourceVersion, annotations: since(clock) };
  await client.patch(KINDS.secrets, { namespace, name: AUTHORITY.secret }, { metadata, data: encoded(change) });
  return { changed: true, authorities };
}

function read(client: KubeClient, namespace: string): Promise<AuthoritySecret | null> {
  return client.get<AuthoritySecret>(KINDS.secrets, { namespace, name: AUTHORITY.secret });
}

function filesIn({ data = {} }: AuthoritySecret): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(data).map(([name, base64]) => [name, Buffer.from(base64, 'base64').toString('utf8')]));
}

function encoded<T extends string | null>(files: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  const encode = (text: T) => (text === null ? text : Buffer.from(text).toString('base64')) as T;
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [name, encode(text)]));
}

function shown(files: Readonly<Record<string, string>>, clock: Clock): readonly ShownAuthority[] {
  return readAuthorities(files, clock.wallMs()).all.map(({ slot, pin, notAfterMs }) => ({ slot, pin, notAfterMs }));
}

function since(clock: Clock): Readonly<Record<string, string>> {
  return { [AUTHORITY.stageSince]: new Date(clock.wallMs()).toISOString() };
}

function sinceOf({ metadata }: AuthoritySecret, clock: Clock): number | undefined {
  const ms = Date.parse(metadata.annotations?.[AUTHORITY.stageSince] ?? '');
  return Number.isNaN(ms) ? undefined : Math.max(0, clock.wallMs() - ms);
}

/** A configuration that is not there trusts nobody and asks nobody. */
async function isTrusted(client: KubeClient, certificatePem: string): Promise<boolean | 'unknown'> {
  try {
    const configurations = await Promise.all(WEBHOOK_KINDS.map((kind) => readConfiguration(client, kind)));
    const wanted = certificatesIn(certificatePem);
    return configurations.every(
      (one) => one === null || bundlesIn(one).every((pem) => wanted.every((c) => certificatesIn(pem).includes(c))),
    );
  } catch (error) {
    if (isKubeError(error, 403)) return 'unknown';
    throw error;
  }
}

interface PinningPod extends KubeObject {
  readonly spec: { readonly initContainers?: readonly { readonly name: string; readonly args?: readonly string[] }[] };
  readonly status?: { readonly phase?: string };
}

/** Of pods that have not ended. */
async function podsThatPin(client: KubeClient, pin: string): Promise<readonly string[] | 'unknown'> {
  const found = new Set<string>();
  try {
    for await (const { metadata, spec, status } of client.list<PinningPod>(KINDS.pods)) {
      const sidecar = (spec.initContainers ?? []).find(({ name }) => name === SIDECAR.container);
      const over = status?.phase === 'Succeeded' || status?.phase === 'Failed';
      if (!over && sidecar?.args?.some((arg) => arg.endsWith(`=${pin}`)) === true) found.add(`${metadata.namespace}/${metadata.name}`);
    }
  } catch (error) {
    if (isKubeError(error, 403)) return 'unknown';
    throw error;
  }
  return [...found].sort();
}

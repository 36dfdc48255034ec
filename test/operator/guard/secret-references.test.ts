/** The table of Secret references against the schema of the real API server, and each entry against its guards. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as references from '#operator/guard/secret-references.ts';
import { unavailable } from '#test/servers/build.ts';
import {
  DRY,
  expectAllowed,
  expectRefused,
  type GuardedCluster,
  injectedPod,
  type Pod,
  plainPod,
  podsOf,
  startGuardedCluster,
} from './guarded-cluster.ts';
import { KNOWN_FIELDS, NO_REFERENCES } from './known-fields.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
let cluster: GuardedCluster;
const create = (pod: Pod, namespace = 'agents') => cluster.call('POST', podsOf(namespace) + DRY, pod);

before(async () => {
  if (skip) return;
  cluster = await startGuardedCluster();
  expectAllowed(await cluster.call('POST', podsOf('plain'), plainPod('existing')));
});
after(async () => cluster?.[Symbol.asyncDispose]());

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly allOf?: readonly Schema[];
  readonly $ref?: string;
}

async function schemas(): Promise<Readonly<Record<string, Schema>>> {
  const { body } = await cluster.call('GET', '/openapi/v3/api/v1');
  return body.components.schemas;
}

interface Leaf {
  /** As in the table: `volumes[].secret.secretName`. */
  readonly path: string;
  /** Types on the way, and the names of the fields. */
  readonly types: readonly string[];
}

/** Every field of a type that holds text, or maps of text, below it. */
function* leaves(all: Readonly<Record<string, Schema>>, name: string, path: string, types: readonly string[]): Generator<Leaf> {
  for (const [field, schema] of Object.entries(all[name]?.properties ?? {})) {
    const isList = schema.type === 'array';
    const isMap = schema.additionalProperties !== undefined;
    const of = (isList ? schema.items : isMap ? schema.additionalProperties : schema) ?? {};
    const at = `${path}${path === '' ? '' : '.'}${field}${isList ? '[]' : isMap ? '{}' : ''}`;
    const type = (of.$ref ?? of.allOf?.[0]?.$ref)?.split('/').at(-1);
    if (type !== undefined && all[type]?.properties !== undefined && !types.includes(type))
      yield* leaves(all, type, at, [...types, type, field]);
    else if (of.type === 'string') yield { path: at, types: [...types, field] };
  }
}

const LISTS = ['initContainers[]', 'containers[]', 'ephemeralContainers[]'];

test('secret references: every field of a pod that looks like one is in the table (INJ-18)', { skip }, async () => {
  const table = new Set<string>([
    ...references.POD_SECRETS,
    ...[...references.VOLUME_SECRETS, references.PROJECTED_SECRET, references.TOKEN_AUDIENCE].map((path) => `volumes[].${path}`),
    ...LISTS.flatMap((list) => [...references.CONTAINER_SECRETS, ...references.CONTAINER_VOLUMES].map((path) => `${list}.${path}`)),
  ]);
  const found: string[] = [];
  for (const { path, types } of leaves(await schemas(), 'io.k8s.api.core.v1.PodSpec', '', [])) {
    const suspicious =
      types.some((type) => /secret|LocalObjectReference|ObjectReference/i.test(type)) ||
      /audience|volumeName$|volumeMounts\[\]\.name|volumeDevices\[\]\.name/i.test(path) ||
      (path.startsWith('volumes[]') && path.endsWith('{}'));
    if (suspicious && !NO_REFERENCES.some((pattern) => pattern.test(path))) found.push(path);
  }
  assert.deepEqual(found.sort(), [...table].sort());
});

test('secret references: a field that is new to Kubernetes is noticed', { skip }, async () => {
  const all = await schemas();
  for (const [type, fields] of Object.entries(KNOWN_FIELDS)) {
    const now = Object.keys(all[`io.k8s.api.core.v1.${type}`]?.properties ?? {}).sort();
    assert.deepEqual(now, fields.split(' ').sort(), `${type}: can the new field name a Secret, or reach the sidecar?`);
  }
});

const VOLUMES: Readonly<Record<string, (secret: string) => object>> = {
  'secret.secretName': (secretName) => ({ secret: { secretName } }),
  'projected.sources[].secret.name': (name) => ({ projected: { sources: [{ configMap: { name: 'x' } }, { secret: { name } }] } }),
  'azureFile.secretName': (secretName) => ({ azureFile: { secretName, shareName: 's' } }),
  'cephfs.secretRef.name': (name) => ({ cephfs: { monitors: ['m'], secretRef: { name } } }),
  'cinder.secretRef.name': (name) => ({ cinder: { volumeID: 'v', secretRef: { name } } }),
  'csi.nodePublishSecretRef.name': (name) => ({ csi: { driver: 'd.example.com', nodePublishSecretRef: { name } } }),
  'csi.volumeAttributes{}': (secretName) => ({ csi: { driver: 'd.example.com', volumeAttributes: { secretName } } }),
  'flexVolume.secretRef.name': (name) => ({ flexVolume: { driver: 'd/e', secretRef: { name } } }),
  'flexVolume.options{}': (secret) => ({ flexVolume: { driver: 'd/e', options: { secret } } }),
  'iscsi.secretRef.name': (name) => ({
    iscsi: { targetPortal: '192.0.2.1', iqn: 'iqn.2001-04.com.example:x', lun: 0, chapAuthSession: true, secretRef: { name } },
  }),
  'rbd.secretRef.name': (name) => ({ rbd: { monitors: ['m'], image: 'i', secretRef: { name } } }),
  'scaleIO.secretRef.name': (name) => ({ scaleIO: { gateway: 'https://g', system: 's', volumeName: 'v', secretRef: { name } } }),
  'storageos.secretRef.name': (name) => ({ storageos: { volumeName: 'v', secretRef: { name } } }),
};

test('secret references: every kind of volume is refused with a reserved Secret and taken with any other (INJ-18)', { skip }, async () => {
  assert.deepEqual(Object.keys(VOLUMES).sort(), [...references.VOLUME_SECRETS, references.PROJECTED_SECRET].sort());
  for (const namespace of ['agents', 'plain']) {
    for (const [path, volume] of Object.entries(VOLUMES)) {
      const pod = plainPod();
      pod.spec.volumes = [{ name: 'data', ...volume('postern-github') }];
      expectRefused(await create(pod, namespace), /volume: only the sidecar mounts Secrets named postern-\*/);
      pod.spec.volumes = [{ name: 'data', ...volume('github') }];
      expectAllowed(await create(pod, namespace));
      assert.ok(path);
    }
  }
});

test('secret references: pull secrets and token audiences', { skip }, async () => {
  for (const namespace of ['agents', 'plain']) {
    const pod = plainPod();
    pod.spec.imagePullSecrets = [{ name: 'ours' }, { name: 'postern-github' }];
    expectRefused(await create(pod, namespace), /pod: only the sidecar mounts Secrets/);
    pod.spec.imagePullSecrets = [{ name: 'ours' }];
    const token = (audience: string) => ({ name: 'token', projected: { sources: [{ serviceAccountToken: { audience, path: 'token' } }] } });
    for (const audience of ['postern', 'postern-control']) {
      pod.spec.volumes = [token(audience)];
      expectRefused(await create(pod, namespace), /volume: only the sidecar asks for tokens/);
    }
    pod.spec.volumes = [token('vault')];
    expectAllowed(await create(pod, namespace));
  }
  // The ServiceAccount's pull secrets are put into the pod before it is judged.
  const account = { metadata: { name: 'sly' }, imagePullSecrets: [{ name: 'postern-github' }] };
  expectAllowed(await cluster.call('POST', '/api/v1/namespaces/agents/serviceaccounts', account));
  const pod = plainPod();
  pod.spec.serviceAccountName = 'sly';
  expectRefused(await create(pod), /pod: only the sidecar mounts Secrets/);
});

const CONTAINERS: Readonly<Record<string, (secret: string) => object>> = {
  'env[].valueFrom.secretKeyRef.name': (name) => ({
    env: [
      { name: 'A', value: 'x' },
      { name: 'B', valueFrom: { secretKeyRef: { name, key: 'k' } } },
    ],
  }),
  'envFrom[].secretRef.name': (name) => ({ envFrom: [{ configMapRef: { name: 'x' } }, { secretRef: { name } }] }),
};

test('secret references: every kind of container refuses a reserved Secret in its environment (INJ-18)', { skip }, async () => {
  assert.deepEqual(Object.keys(CONTAINERS).sort(), [...references.CONTAINER_SECRETS].sort());
  for (const namespace of ['agents', 'plain']) {
    for (const list of ['initContainers', 'containers']) {
      for (const fields of Object.values(CONTAINERS)) {
        const pod = plainPod();
        const add = (secret: string) => [
          ...(list === 'containers' ? plainPod().spec.containers : []),
          { name: 'odd', image: 'i', ...fields(secret) },
        ];
        pod.spec[list] = add('postern-github');
        expectRefused(await create(pod, namespace), /container: only the sidecar mounts Secrets/);
        pod.spec[list] = add('github');
        expectAllowed(await create(pod, namespace));
      }
    }
  }
  for (const fields of Object.values(CONTAINERS)) {
    const debug = (secret: string) => {
      const added = { name: 'debug', image: 'i', ...fields(secret) };
      const options = { contentType: 'application/strategic-merge-patch+json' };
      const path = `${podsOf('plain')}/existing/ephemeralcontainers${DRY}`;
      return cluster.call('PATCH', path, { spec: { ephemeralContainers: [added] } }, options);
    };
    expectRefused(await debug('postern-github'), /container: only the sidecar mounts Secrets/);
    expectAllowed(await debug('github'));
  }
});

test("secret references: only the sidecar mounts the sidecar's volumes, or reads files in them into its environment", {
  skip,
}, async () => {
  const mount = { volumeMounts: [{ name: 'postern-credentials', mountPath: '/c' }] };
  const fileKey = { env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'postern-state', path: 'x.env', key: 'K' } } }] };
  for (const list of ['initContainers', 'containers']) {
    for (const fields of [mount, fileKey]) {
      const pod = injectedPod();
      pod.spec[list].push({ name: 'odd', image: 'i', ...fields });
      expectRefused(await create(pod), /container: only the init container postern mounts/);
    }
  }
  const pod = plainPod();
  pod.spec.volumes = [{ name: 'postern-mine', emptyDir: {} }];
  expectRefused(await create(pod, 'plain'), /volume: volume names that begin with postern- are the sidecar's/);
});

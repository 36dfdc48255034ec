/** A mutating webhook of somebody else, called after ours: a mesh, or a platform that assigns users. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority } from '#test/servers/certificates.ts';
import type { KubeApiserver } from '#test/servers/kube-apiserver.ts';
import { CONFIGURATIONS, expectStatus } from './webhook-rig.ts';

export interface Mutator extends AsyncDisposable {
  readonly calls: number;
}

/** `mutate` gives the new spec of a pod in a namespace with the label `test.postern.dev/mutator`. */
export async function startMutator(kube: KubeApiserver, mutate: (pod: object) => object): Promise<Mutator> {
  const authority = await createAuthority('Another webhook');
  const { certificatePem, keyPem } = await authority.issue({ commonName: 'mutator', hosts: ['localhost'] });
  let calls = 0;
  const server = createServer({ cert: certificatePem, key: keyPem }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      calls += 1;
      const { apiVersion, kind, request: asked } = JSON.parse(Buffer.concat(chunks).toString());
      const patch = Buffer.from(JSON.stringify([{ op: 'replace', path: '/spec', value: mutate(asked.object) }])).toString('base64');
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, allowed: true, patchType: 'JSONPatch', patch } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  // Webhooks are asked in the order of their configurations' names.
  const name = 'zz-mutator';
  const webhook = {
    name: 'mutator.test.postern.dev',
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Fail',
    reinvocationPolicy: 'Never',
    clientConfig: { url: `https://localhost:${port}/`, caBundle: Buffer.from(authority.caPem).toString('base64') },
    namespaceSelector: { matchLabels: { 'test.postern.dev/mutator': 'true' } },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
  };
  const path = `${CONFIGURATIONS}/mutatingwebhookconfigurations`;
  expectStatus(await kube.request('POST', path, { metadata: { name }, webhooks: [webhook] }), 201);
  return {
    get calls() {
      return calls;
    },
    async [Symbol.asyncDispose]() {
      await kube.request('DELETE', `${path}/${name}`);
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

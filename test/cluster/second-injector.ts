/** Another webhook that rewrites pods after ours, as a mesh or an instrumentation does: it puts a variable into every container. */
import { createServer } from 'node:https';
import { createAuthority } from '#test/servers/certificates.ts';
import { nodeAddress } from '#test/servers/node-network.ts';

export interface SecondInjector extends AsyncDisposable {
  /** The MutatingWebhookConfiguration for namespaces with the label `second-injector`; its name puts it after ours. */
  readonly configuration: object;
}

type Variable = Readonly<Record<'name' | 'value', string>>;

interface Review {
  readonly request: {
    readonly uid: string;
    readonly object: {
      readonly spec: Readonly<Record<'containers' | 'initContainers', readonly { readonly env?: unknown }[] | undefined>>;
    };
  };
}

export async function startSecondInjector(variable: Variable): Promise<SecondInjector> {
  const authority = await createAuthority('Second injector CA');
  const { certificatePem, keyPem } = await authority.issue({ commonName: 'injector', hosts: [nodeAddress] });
  const server = createServer({ cert: certificatePem, key: keyPem }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const review = JSON.parse(Buffer.concat(chunks).toString()) as Review;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer(review, variable)));
  });
  await new Promise<void>((resolve) => server.listen(0, nodeAddress, resolve));
  const { port } = server.address() as { port: number };
  return {
    configuration: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'zz-second-injector' },
      webhooks: [
        {
          name: 'pods.injector.test',
          admissionReviewVersions: ['v1'],
          clientConfig: { url: `https://${nodeAddress}:${port}/`, caBundle: Buffer.from(authority.caPem).toString('base64') },
          sideEffects: 'None',
          reinvocationPolicy: 'IfNeeded',
          namespaceSelector: { matchExpressions: [{ key: 'second-injector', operator: 'Exists' }] },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        },
      ],
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function answer({ request }: Review, variable: Variable): object {
  const patch = (['initContainers', 'containers'] as const).flatMap((list) =>
    (request.object.spec[list] ?? []).map(({ env }, index) => {
      const path = `/spec/${list}/${index}/env`;
      return Array.isArray(env) ? { op: 'add', path: `${path}/-`, value: variable } : { op: 'add', path, value: [variable] };
    }),
  );
  const encoded = Buffer.from(JSON.stringify(patch)).toString('base64');
  const response = { uid: request.uid, allowed: true, patchType: 'JSONPatch', patch: encoded };
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
}

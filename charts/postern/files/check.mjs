/**
 * `helm test`: is this Postern whole? Asks the API server only, changes nothing (every write is a dry run), and says for each thing
 * that is not right what to do.
 *
 *     node check.mjs API_URL ACCOUNT_FOLDER NAMESPACE
 *
 * ACCOUNT_FOLDER has `token` and `ca.crt`, as mounted in a pod; NAMESPACE is the operator's. Exit code 1 when something is wrong.
 */
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';

const [url, account, namespace] = process.argv.slice(2);
/** Not exempt from any guard, and in every cluster. */
const ELSEWHERE = 'default';
const TIMEOUT_MS = 15_000;

function ask(method, path, body) {
  const token = readFileSync(join(account, 'token'), 'utf8').trim();
  const ca = readFileSync(join(account, 'ca.crt'));
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const call = request(`${url}${path}`, { method, headers, ca, timeout: TIMEOUT_MS }, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('end', () => resolve({ status: answer.statusCode, body: parse(Buffer.concat(parts).toString('utf8')) }));
      answer.on('error', reject);
    });
    call.on('timeout', () => call.destroy(new Error('the API server does not answer')));
    call.on('error', reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { message: text };
  }
}

const ADMISSION = '/apis/admissionregistration.k8s.io/v1';

async function operatorReady() {
  const { status, body } = await ask('GET', `/apis/apps/v1/namespaces/${namespace}/deployments/postern-operator`);
  if (status !== 200) return `Deployment postern-operator: ${body.message}`;
  const ready = body.status?.readyReplicas ?? 0;
  if (ready >= body.spec.replicas) return undefined;
  return `${ready} of ${body.spec.replicas} replicas are ready: kubectl logs -n ${namespace} deployment/postern-operator; kubectl get jobs -n ${namespace}`;
}

async function policiesBound() {
  const policies = await ask('GET', `${ADMISSION}/validatingadmissionpolicies`);
  const bindings = await ask('GET', `${ADMISSION}/validatingadmissionpolicybindings`);
  if (policies.status !== 200 || bindings.status !== 200) return `they cannot be read: ${policies.body.message ?? bindings.body.message}`;
  const ours = policies.body.items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('postern-'));
  const bound = new Set(bindings.body.items.map(({ spec }) => spec.policyName));
  const loose = ours.filter((name) => !bound.has(name));
  if (loose.length > 0) return `without a binding, so without effect: ${loose.join(', ')}: install the chart anew`;
  if (!ours.includes('postern-sidecar'))
    return 'the policy postern-sidecar is missing: the leader writes it, see the alert PosternNoLeader';
  return ours.length > 1 ? undefined : 'the policies of the chart are missing: install it anew';
}

async function secretRefused() {
  const { status, body } = await ask('POST', `/api/v1/namespaces/${ELSEWHERE}/pods?dryRun=All`, podWithReservedSecret());
  if (status >= 400 && /ValidatingAdmissionPolicy '?postern-/.test(body.message ?? '')) return undefined;
  if (status < 300) return 'a pod that mounts a Secret named postern-* would be admitted: the guards do not hold';
  return `it was refused, but not by a guard of ours: ${body.message}`;
}

function podWithReservedSecret() {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'postern-check', labels: { 'app.kubernetes.io/name': 'postern' } },
    spec: {
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'agent',
          image: 'example.invalid/agent',
          volumeMounts: [{ name: 'stolen', mountPath: '/stolen' }],
          resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '10m', memory: '16Mi' } },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
      volumes: [{ name: 'stolen', secret: { secretName: 'postern-check', optional: true } }],
    },
  };
}

async function webhookAnswers() {
  const path = `/apis/postern.dev/v1alpha1/namespaces/${ELSEWHERE}/actioncontracts?dryRun=All`;
  const { status, body } = await ask('POST', path, contractThatCannotBeRight());
  const message = body.message ?? '';
  if (status >= 400 && /admission webhook "contracts\.postern\.dev" denied/.test(message)) return undefined;
  if (/failed calling webhook/.test(message)) return `the API server cannot reach it: ${message}`;
  return status < 300 ? 'a contract that cannot be right would be admitted' : `it was refused, but not by the webhook: ${message}`;
}

function contractThatCannotBeRight() {
  return {
    apiVersion: 'postern.dev/v1alpha1',
    kind: 'ActionContract',
    metadata: { name: 'postern-check' },
    spec: {
      action: 'postern_check',
      summary: 'Refused: its URL uses an argument that it does not have.',
      owner: 'postern',
      effect: 'Read',
      callers: [{ serviceAccount: 'postern-check' }],
      credentials: ['postern-check'],
      arguments: { type: 'object', additionalProperties: false, properties: {} },
      http: { credential: 'postern-check', method: 'GET', url: 'https://example.invalid/$(args.nothing)' },
    },
  };
}

const CHECKS = {
  'the operator is ready': operatorReady,
  'the policies stand and are bound': policiesBound,
  'a pod with a reserved Secret is refused': secretRefused,
  'the webhook answers and refuses what cannot be right': webhookAnswers,
};

let failed = 0;
for (const [what, check] of Object.entries(CHECKS)) {
  const wrong = await check().catch((thrown) => thrown.message);
  if (wrong !== undefined) failed += 1;
  process.stdout.write(wrong === undefined ? `ok    ${what}\n` : `FAIL  ${what}: ${wrong}\n`);
}
process.exitCode = failed === 0 ? 0 : 1;

/**
 * The operator's settings: `POSTERN_*` variables, which the chart writes from its values. All problems are reported together; the
 * process then ends with exit code 2.
 */
import { OPERATOR } from '#core/resource/names.ts';
import { readSettings, type Setting, type Settings } from '#core/runtime/settings.ts';

export const OPERATOR_SETTINGS = {
  namespace: { env: 'POSTERN_NAMESPACE', type: 'text', pattern: /^[a-z0-9-]{1,63}$/, sentence: 'Namespace the operator runs in.' },
  serviceAccount: {
    env: 'POSTERN_SERVICE_ACCOUNT',
    type: 'text',
    pattern: /^[a-z0-9.-]{1,253}$/,
    sentence: 'ServiceAccount the operator runs as; guards name it.',
  },
  replica: { env: 'POSTERN_REPLICA', type: 'text', pattern: /^[a-z0-9.-]{1,253}$/, sentence: 'Name of this pod; the Lease names it.' },
  service: {
    env: 'POSTERN_SERVICE',
    type: 'text',
    pattern: /^[a-z0-9.-]{1,253}$/,
    sentence: 'Name of the Service in front of all replicas; webhooks and sidecars call it.',
  },
  sidecarImage: {
    env: 'POSTERN_SIDECAR_IMAGE',
    type: 'text',
    pattern: /^[^\s@]{1,500}@sha256:[0-9a-f]{64}$/,
    sentence: 'Image of the sidecar, by digest: a tag could be moved under the guard that compares it.',
  },
  sidecarPullPolicy: {
    env: 'POSTERN_SIDECAR_PULL_POLICY',
    type: 'choice',
    choices: ['IfNotPresent', 'Always', 'Never'],
    fallback: 'IfNotPresent',
    sentence: 'When nodes pull the image of the sidecar.',
  },
  sidecarSizes: {
    env: 'POSTERN_SIDECAR_SIZES',
    type: 'text',
    pattern: /^[a-z]+=\d+m\/\d+m\/\d+Mi\/\d+Mi(,[a-z]+=\d+m\/\d+m\/\d+Mi\/\d+Mi){0,7}$/,
    fallback: 'small=20m/500m/96Mi/192Mi,large=100m/1000m/192Mi/512Mi',
    sentence:
      'Size classes of the sidecar, name=cpu request/cpu limit/memory request/memory limit; the first is the default, postern.dev/sidecar-size chooses.',
  },
  authority: {
    env: 'POSTERN_AUTHORITY',
    type: 'text',
    fallback: '/var/run/postern/authority',
    sentence: "Folder with the operator's own CA, as the chart mounts it.",
  },
  controlPort: {
    env: 'POSTERN_CONTROL_PORT',
    type: 'integer',
    min: 0,
    max: 65_535,
    fallback: OPERATOR.controlPort,
    sentence: 'Port sidecars connect to; 0 takes a free one.',
  },
  webhookPort: {
    env: 'POSTERN_WEBHOOK_PORT',
    type: 'integer',
    min: 0,
    max: 65_535,
    fallback: OPERATOR.webhookPort,
    sentence: 'Port the API server calls; 0 takes a free one.',
  },
  adminPort: {
    env: 'POSTERN_ADMIN_PORT',
    type: 'integer',
    min: 0,
    max: 65_535,
    fallback: OPERATOR.adminPort,
    sentence: 'Port of probes and metrics; 0 takes a free one.',
  },
  host: {
    env: 'POSTERN_HOST',
    type: 'text',
    pattern: /^[0-9a-f.:]{2,39}$/,
    fallback: '0.0.0.0',
    sentence: 'Literal address all three ports listen on.',
  },
  leaseSeconds: {
    env: 'POSTERN_LEASE_SECONDS',
    type: 'integer',
    min: 60,
    max: 86_400,
    fallback: 3600,
    sentence: 'How long a sidecar serves reads without word from the operator; past it calls answer CONTROL_STALE.',
  },
  approvalWebhook: {
    env: 'POSTERN_APPROVAL_WEBHOOK',
    type: 'text',
    pattern: /^(https:\/\/[^\s@]{1,2000})?$/,
    fallback: '',
    sentence:
      'https address that is told of every approval that waits for a person; empty for none. The operator connects to it as it is named: allow it in the network policy of the namespace, and nothing else.',
  },
  approvalWebhookFolder: {
    env: 'POSTERN_APPROVAL_WEBHOOK_FOLDER',
    type: 'text',
    fallback: '/var/run/postern/approval-webhook',
    sentence: 'Folder with ca.crt (CAs to trust instead of those of the system) and hmac.key (signs what is told), each of them optional.',
  },
  cluster: {
    env: 'POSTERN_CLUSTER',
    type: 'text',
    pattern: /^(?!standalone$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
    fallback: 'cluster',
    sentence:
      'Name of this cluster in the audit: of its chains, its authority and its folder in the store. Changing it begins other chains.',
  },
  auditRecipients: {
    env: 'POSTERN_AUDIT_RECIPIENTS',
    type: 'text',
    pattern: /^(age1[a-z0-9]{1,100}(,age1[a-z0-9]{1,100}){0,15})?$/,
    fallback: '',
    sentence: 'age recipients (age1...) that every record is sealed to, joined by commas; empty: nothing is recorded.',
  },
  auditMode: {
    env: 'POSTERN_AUDIT_MODE',
    type: 'choice',
    choices: ['Acknowledged', 'Local'],
    fallback: 'Acknowledged',
    sentence: 'What an effect waits for: Acknowledged until its intent is in the store, Local until it is on the disk of its pod.',
  },
  auditStore: {
    env: 'POSTERN_AUDIT_STORE',
    type: 'text',
    pattern: /^(s3:\/\/[^\s@]{1,2000})?$/,
    fallback: '',
    sentence: 'Store of segments, intents and heads, s3://BUCKET/PREFIX?region=..&endpoint=..; empty: records stay in their pods.',
  },
  auditRetention: {
    env: 'POSTERN_AUDIT_RETENTION',
    type: 'text',
    pattern: /^((COMPLIANCE|GOVERNANCE):[1-9][0-9]{0,4})?$/,
    fallback: '',
    sentence: 'Object Lock of each new object, MODE:DAYS; empty: as the bucket has it.',
  },
  logLevel: {
    env: 'POSTERN_LOG_LEVEL',
    type: 'choice',
    choices: ['error', 'warn', 'info', 'debug'],
    fallback: 'info',
    sentence: 'How much to log, as JSON lines on standard error.',
  },
} as const satisfies Readonly<Record<string, Setting>>;

export type OperatorSettings = Settings<typeof OPERATOR_SETTINGS>;

export function readOperatorSettings(
  env: Readonly<Record<string, string | undefined>>,
): ReturnType<typeof readSettings<typeof OPERATOR_SETTINGS>> {
  return readSettings(OPERATOR_SETTINGS, env);
}

export interface SizeClass {
  readonly name: string;
  readonly requests: { readonly cpu: string; readonly memory: string };
  readonly limits: { readonly cpu: string; readonly memory: string };
}

/** The size classes of a text that matched the pattern above; the first is the default. */
export function sizeClasses(text: string): readonly SizeClass[] {
  return text.split(',').map((entry) => {
    const [name = '', values = ''] = entry.split('=');
    const [cpuRequest = '', cpuLimit = '', memoryRequest = '', memoryLimit = ''] = values.split('/');
    return { name, requests: { cpu: cpuRequest, memory: memoryRequest }, limits: { cpu: cpuLimit, memory: memoryLimit } };
  });
}

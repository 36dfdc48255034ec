/**
 * Contracts over SSH as a sidecar would serve them - compiled from YAML, with bindings and mounted keys - and what became of each call. The
 * whole way is real: store, key, egress, protocol, decoder, walk.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '#core/bounds/clock.ts';
import type { Exchange, NoReply, Reply } from '#core/completeness/exchange.ts';
import type { Folded } from '#core/completeness/walk.ts';
import { compileBinding } from '#core/contract/binding.ts';
import { compileContract } from '#core/contract/compile.ts';
import type { CompiledContract, JsonValue } from '#core/contract/compiled.ts';
import { readYaml } from '#core/contract/read-yaml.ts';
import { CredentialStore } from '#sidecar/credential/store.ts';
import { UNCONDITIONAL } from '#sidecar/execute/call-standing.ts';
import { Destinations } from '#sidecar/execute/http/destinations.ts';
import { Remotes } from '#sidecar/execute/open-remotes.ts';
import { executeRead } from '#sidecar/execute/read.ts';
import type { HostKeyMismatch } from '#sidecar/execute/ssh/ssh-failure.ts';

export interface RigHost {
  readonly origin: string;
  readonly pins: readonly string[];
  readonly privateKey: string;
  readonly user?: string;
  readonly passphrase?: string;
  /** A host that is a hop to this one. */
  readonly via?: RigHost;
  /** Default: the loopback address. */
  readonly addresses?: readonly string[] | null;
}

export interface RigOptions {
  readonly host: RigHost;
  /** Lines of `spec` below `ssh`; default: a command without arguments. */
  readonly ssh?: string;
  /** Lines of `spec` beside it. */
  readonly spec?: string;
  readonly effect?: 'Read' | 'Write';
  /** Members of a read's `limits`. */
  readonly limits?: string;
  readonly resolve?: (name: string) => Promise<readonly string[]>;
}

export interface Rig extends AsyncDisposable {
  readonly contract: CompiledContract;
  ask(args?: Readonly<Record<string, JsonValue>>, options?: { signal?: AbortSignal; bytes?: number }): Promise<Exchange>;
  read(args?: Readonly<Record<string, JsonValue>>, signal?: AbortSignal): Promise<{ folded: Folded; dataJson: string | undefined }>;
  readonly mismatches: readonly HostKeyMismatch[];
  /** Why commands had no exit status, as counted. */
  readonly missingExits: readonly string[];
  readonly faults: readonly string[];
  readonly foreign: () => number;
  readonly anomalies: () => number;
}

export function openRig(options: RigOptions): Rig {
  const directory = mkdtempSync(join(tmpdir(), 'postern-ssh-'));
  const bindings = bindingsOf(options.host, directory);
  const yaml = contractYaml(options);
  const objects = readYaml([yaml, ...bindings].join('\n---\n'), 'rig.yaml');
  assert.deepEqual(objects.problems, []);
  const [contract, ...bindingObjects] = objects.objects;
  assert.ok(contract);
  const compiled = compileContract({ contract, bindings: bindingObjects, presets: [], contracts: [contract], nowMs: 0 });
  assert.ok(compiled.contract, JSON.stringify(compiled.problems));
  const own = bindingObjects.map((object) => {
    const result = compileBinding(object);
    assert.ok(result.binding, JSON.stringify(result.problems));
    return result.binding;
  });
  const mismatches: HostKeyMismatch[] = [];
  const faults: string[] = [];
  const missingExits: string[] = [];
  let foreign = 0;
  let anomalies = 0;
  const destinations = new Destinations({ allowLoopback: true, ...(options.resolve === undefined ? {} : { resolve: options.resolve }) });
  const remotes = new Remotes(own, {
    store: new CredentialStore({ directory, clock: systemClock }),
    destinations,
    clock: systemClock,
    onAnomaly: () => {
      anomalies += 1;
    },
    onFault: (_action, cause) => faults.push(cause),
    onMissingExit: (_action, kind) => missingExits.push(kind),
    onHostKeyMismatch: (_action, mismatch) => mismatches.push(mismatch),
    onForeignChannel: () => {
      foreign += 1;
    },
  });
  const open = remotes.of(compiled.contract, compiled.contract.target);
  return {
    contract: compiled.contract,
    ask: (args = {}, { signal = AbortSignal.timeout(60_000), bytes = 1_000_000 } = {}) => {
      const { target, resolve, constants } = compiled.contract;
      assert.ok(target.kind === 'ssh');
      const values = { args, resolve, constants, next: {}, open: {}, source: {}, limits: {}, budget: {}, operation: { id: 'op_x' } };
      return open(args, undefined).ask(target, values, { signal, bodyBytesMax: bytes });
    },
    read: async (args = {}, signal = AbortSignal.timeout(60_000)) => {
      const { folded, dataJson } = await executeRead(
        { contract: compiled.contract, args, operationId: 'op_x', onePage: false },
        {
          clock: systemClock,
          signal,
          standing: UNCONDITIONAL,
          remote: (source) => open(args, source),
          seal: () => ({ cursor: 'sealed' }),
          onProgress: () => undefined,
        },
      );
      return { folded, dataJson };
    },
    mismatches,
    faults,
    missingExits,
    foreign: () => foreign,
    anomalies: () => anomalies,
    [Symbol.asyncDispose]: async () => {
      destinations.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Asserts that something came back, and gives it. */
export function replyOf({ reply }: Exchange): Reply {
  assert.equal(reply.kind, 'reply', JSON.stringify(reply));
  return reply as Reply;
}

export function noReplyOf({ reply }: Exchange): NoReply {
  assert.equal(reply.kind, 'noReply', JSON.stringify(reply));
  return reply as NoReply;
}

function contractYaml({ ssh, spec, effect = 'Read', host, limits = 'bytes: 1Mi, time: 60s' }: RigOptions): string {
  const place = host.origin.slice('ssh://'.length);
  return [
    'apiVersion: postern.dev/v1alpha1',
    'kind: ActionContract',
    'metadata: {name: run-it, namespace: ops}',
    'spec:',
    '  action: run_it',
    '  summary: Run it',
    '  owner: team',
    `  effect: ${effect}`,
    ...(effect === 'Read'
      ? ['  readOnlyBecause: it only looks', `  completeness: {paging: {mode: SingleResponse}, limits: {${limits}}}`]
      : ['  approval: {mode: EachCall}']),
    '  callers: [{serviceAccount: bot}]',
    `  credentials: [${chainOf(host)
      .map((_, index) => `host-${index}`)
      .join(', ')}]`,
    '  ssh:',
    '    credential: host-0',
    `    host: "${place}"`,
    ...(ssh ?? 'argv: [status]\nshell: Posix').split('\n').map((line) => `    ${line}`),
    ...(spec ?? DEFAULT_SPEC).split('\n').map((line) => `  ${line}`),
  ].join('\n');
}

const DEFAULT_SPEC = [
  'arguments: {type: object, additionalProperties: false, required: [], properties: {}}',
  'result: {decoder: Lines, items: [/], as: lines, fields: [{name: line}]}',
].join('\n');

function chainOf(host: RigHost): readonly RigHost[] {
  return [host, ...(host.via === undefined ? [] : chainOf(host.via))];
}

function bindingsOf(host: RigHost, directory: string): readonly string[] {
  const texts: string[] = [];
  for (let at: RigHost | undefined = host, index = 0; at !== undefined; at = at.via, index += 1) {
    const secret = `postern-host-${index}`;
    writeKey(join(directory, secret, 'key'), at.privateKey);
    if (at.passphrase !== undefined) writeKey(join(directory, secret, 'passphrase'), at.passphrase);
    const addresses = at.addresses === undefined ? ['127.0.0.1/32'] : at.addresses;
    texts.push(
      [
        'apiVersion: postern.dev/v1alpha1',
        'kind: CredentialBinding',
        `metadata: {name: host-${index}, namespace: ops}`,
        'spec:',
        '  owner: team',
        `  secret: {name: ${secret}}`,
        `  contracts: [${index === 0 ? 'run-it' : ''}]`,
        '  destinations:',
        `  - {origin: "${at.origin}"${addresses === null ? '' : `, addresses: [${addresses.join(', ')}]`}, hostKeys: [${at.pins.map((pin) => `"${pin}"`).join(', ')}]${at.via === undefined ? '' : `, via: host-${index + 1}`}}`,
        `  use: {sshKey: {user: ${at.user ?? 'u'}, privateKeyKey: key${at.passphrase === undefined ? '' : ', passphraseKey: passphrase'}}}`,
      ].join('\n'),
    );
  }
  return texts;
}

function writeKey(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

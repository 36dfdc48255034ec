/**
 * What the sidecars of one ServiceAccount serve, from the caches alone: the contracts that name the account as caller, are accepted as
 * they stand now, and whose caller is not refused; the bindings those list; nothing else. Suspended ones are among them: the sidecar
 * answers SESSION_SUSPENDED, which tells an agent more than ACTION_UNKNOWN.
 *
 * A contract that was changed and not judged since is left out: its new text may name an account nobody has looked at. It is named in
 * `unsettled`, so that the store waits a moment for the judgement instead of taking the action away and giving it back.
 */
import { create, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { limits } from '#core/bounds/limits.ts';
import { type Digest, digestOf } from '#core/encoding/canonical.ts';
import { keyOf } from '#operator/kube/cache.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { BindingRecord, ContractRecord } from '#operator/kube/records.ts';
import { BundleSchema, ObjectSchema, type SessionState } from '#proto/postern/control/v1/control_pb.ts';

export interface BundleContent {
  /** Over kind, name, UID and spec of every object, in order. */
  readonly revision: Digest;
  /** Fields 1 and 2 of a Bundle, encoded once for all sidecars of the account. */
  readonly encoded: Uint8Array;
  readonly contracts: readonly string[];
  /** Contracts that did not fit, by name; nothing of them is served. */
  readonly leftOut: readonly string[];
  /** Contracts that wait for the leader's judgement, by name. */
  readonly unsettled: readonly string[];
}

type Sources = Pick<Cluster, 'contracts' | 'bindings'>;

interface Part {
  readonly kind: 'ActionContract' | 'CredentialBinding';
  readonly record: ContractRecord | BindingRecord;
}

export function bundleOf(cluster: Sources, namespace: string, account: string): BundleContent {
  const contracts = [...cluster.contracts.by('caller', keyOf({ namespace, name: account }))].sort(byName);
  const unsettled: string[] = [];
  const leftOut: string[] = [];
  const served: ContractRecord[] = [];
  const bindings = new Map<string, BindingRecord>();
  let bytes = 0;
  for (const contract of contracts) {
    const standing = standingOf(contract, account);
    if (standing === 'unsettled') unsettled.push(contract.name);
    if (standing !== 'served') continue;
    const needed = bindingsOf(cluster, contract).filter(({ name }) => !bindings.has(name));
    const more = [contract, ...needed].reduce((sum, record) => sum + sizeOf(record), 0);
    if (bytes + more > limits.controlBundleBytesMax || served.length === limits.controlBundleContractsMax) {
      leftOut.push(contract.name);
      continue;
    }
    bytes += more;
    served.push(contract);
    for (const binding of needed) bindings.set(binding.name, binding);
  }
  const parts: Part[] = [
    ...served.map((record) => ({ kind: 'ActionContract', record }) as const),
    ...[...bindings.values()].sort(byName).map((record) => ({ kind: 'CredentialBinding', record }) as const),
  ];
  const revision = digestOf(
    'bundle',
    parts.map(({ kind, record: { name, uid, specJson } }) => [kind, name, uid, specJson]),
  );
  return { revision, encoded: encode(revision, parts), contracts: served.map(({ name }) => name), leftOut, unsettled };
}

/** Accounts whose bundles an object may stand in, as `namespace/account`. */
export function accountsOfContract(...records: readonly (ContractRecord | undefined)[]): readonly string[] {
  return records.flatMap((record) =>
    record === undefined ? [] : record.callers.map((name) => keyOf({ namespace: record.namespace, name })),
  );
}

export function accountsOfBinding(cluster: Sources, binding: BindingRecord): readonly string[] {
  return accountsOfContract(...cluster.contracts.by('credential', keyOf(binding)));
}

/** A whole ConnectResponse: the shared part, and behind it what is of this stream alone. Protobuf joins fields in any order. */
export function bundleMessage(content: BundleContent, session: SessionState, leaseMs: number): Uint8Array {
  const own = toBinary(BundleSchema, create(BundleSchema, { session, leaseMs: BigInt(leaseMs) }));
  const head = new BinaryWriter()
    .tag(2, WireType.LengthDelimited)
    .uint32(content.encoded.length + own.length)
    .finish();
  return Buffer.concat([head, content.encoded, own]);
}

/** Whether a contract is in the bundle of an account as it stands now. */
export function standingOf({ generation, status }: ContractRecord, account: string): 'served' | 'refused' | 'unsettled' {
  if (status?.observedGeneration !== generation) return 'unsettled';
  const accepted = (status.conditions ?? []).find(({ type }) => type === 'Accepted');
  if (accepted?.status !== 'True') return 'refused';
  const caller = (status.callers ?? []).find(({ serviceAccount }) => serviceAccount === account);
  if (caller === undefined) return 'unsettled';
  return caller.refused === undefined ? 'served' : 'refused';
}

function bindingsOf(cluster: Sources, { namespace, credentials }: ContractRecord): readonly BindingRecord[] {
  return credentials.flatMap((name) => cluster.bindings.get(keyOf({ namespace, name })) ?? []);
}

function encode(revision: string, parts: readonly Part[]): Uint8Array {
  const objects = parts.map(({ kind, record: { name, uid, specJson } }) =>
    create(ObjectSchema, { kind, name, uid, specJson: Buffer.from(specJson) }),
  );
  return toBinary(BundleSchema, create(BundleSchema, { revision, objects }));
}

/** At most what it takes in a bundle: text, names, and the lengths in front of them. */
function sizeOf({ name, uid, specJson }: ContractRecord | BindingRecord): number {
  return Buffer.byteLength(specJson) + name.length + uid.length + 64;
}

function byName({ name: a }: { name: string }, { name: b }: { name: string }): number {
  return a < b ? -1 : Number(a > b);
}

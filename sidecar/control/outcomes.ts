/**
 * What became of admitted operations, until the operator has it. On disk, because the operator holds equal calls of every pod of the
 * account back until it hears, and this process may end before it is heard.
 */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { OperationEnd, type OperationSettledSchema } from '#proto/postern/control/v1/control_pb.ts';
import type { Keeper } from './operator-decider.ts';

export type End = 'done' | 'notDone' | 'unknown';

const KEPT = 'operator-outcome/';
const ENDS = { done: OperationEnd.DONE, notDone: OperationEnd.NOT_DONE, unknown: OperationEnd.UNKNOWN } as const;

export class Outcomes {
  readonly #keeper: Keeper;
  readonly #tell: (message: MessageInitShape<typeof OperationSettledSchema>) => void;
  /** Told, or to be told, and not acknowledged. */
  readonly #open = new Map<string, End>();

  constructor(keeper: Keeper, tell: (message: MessageInitShape<typeof OperationSettledSchema>) => void) {
    this.#keeper = keeper;
    this.#tell = tell;
    for (const [name, end] of keeper.kept(KEPT)) if (isEnd(end)) this.#open.set(name.slice(KEPT.length), end);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Resolves once it is on disk; where the disk fails, memory has to do, and a restart leaves the question to a person. */
  async add(operationId: string, end: End): Promise<void> {
    this.#open.set(operationId, end);
    await this.#keeper.keep(KEPT + operationId, end).catch(() => undefined);
    this.#say(operationId);
  }

  /** A new stream stands: everything again. */
  tellAll(): void {
    for (const operationId of this.#open.keys()) this.#say(operationId);
  }

  /** The operator has it, or it is under way again. */
  forget(operationId: string): void {
    if (!this.#open.delete(operationId)) return;
    void this.#keeper.keep(KEPT + operationId, null).catch(() => undefined);
  }

  #say(operationId: string): void {
    const end = this.#open.get(operationId);
    const record = this.#keeper.get(operationId)?.record;
    if (end === undefined) return;
    // An operation the journal has forgotten is over for longer than anybody waits.
    if (record === undefined) this.forget(operationId);
    else this.#tell({ operationId, contract: record.contract, argumentsDigest: record.argsDigest, end: ENDS[end] });
  }
}

function isEnd(value: unknown): value is End {
  return typeof value === 'string' && Object.hasOwn(ENDS, value);
}

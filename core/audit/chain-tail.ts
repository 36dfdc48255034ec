/**
 * Whether the end of a chain is there, as far as heads kept elsewhere tell (FORMAT.md, "Checking" 4). A chain alone cannot say it: the last
 * records taken away leave a chain that is whole (AUD-01, AUD-27).
 */
import type { ChainHead } from './checkpoint.ts';
import type { Heads } from './heads.ts';

export interface TailVerdict {
  readonly is: 'not checked' | 'complete' | 'TRUNCATED' | 'FORK' | 'ROLLBACK' | 'INVALID';
  /** That the verdict is about: the size of a head. */
  readonly sequence?: number;
  readonly sentence: string;
}

export interface TailOf {
  /** Undefined where not one statement could be read. */
  readonly origin: string | undefined;
  readonly last: number;
  /** Hash of the frame that ends at a size, for the sizes that heads name. */
  readonly hashes: ReadonlyMap<number, Uint8Array>;
}

/** `origins`: of all chains looked at. `given`: none: nothing was to be checked. */
export function tailVerdict(chain: TailOf, given: readonly Heads[], origins: ReadonlySet<string>): TailVerdict {
  if (given.length === 0) return { is: 'not checked', sentence: 'not checked (--head)' };
  const mine = given.flatMap(({ heads }) => heads.filter((head) => chain.origin === undefined || head.origin === chain.origin));
  const forked = twoHeads(mine) ?? forkOf(chain, mine);
  if (forked !== undefined) return forked;
  const foreign = given.find(({ many, heads: [head] }) => !many && origins.size > 0 && head !== undefined && !origins.has(head.origin))
    ?.heads[0];
  if (foreign !== undefined) {
    const sentence = `ROLLBACK: head witnessed ${foreign.size} of ${foreign.origin}, found another chain`;
    return { is: 'ROLLBACK', sequence: foreign.size, sentence };
  }
  if (mine.length === 0) return { is: 'not checked', sentence: 'not checked (no head speaks of this chain)' };
  const size = mine.reduce((largest, head) => Math.max(largest, head.size), 0);
  if (size > chain.last) return { is: 'TRUNCATED', sequence: size, sentence: `TRUNCATED: head witnessed ${size}, found ${chain.last}` };
  return { is: 'complete', sequence: size, sentence: `nothing is missing up to sequence ${size}` };
}

function twoHeads(heads: readonly ChainHead[]): TailVerdict | undefined {
  const bySize = new Map<number, ChainHead>();
  for (const head of heads) {
    const other = bySize.get(head.size) ?? head;
    if (!equal(other.hash, head.hash))
      return fork(head.size, `two heads of one size: ${shown(other.size, other.hash)} and ${shown(head.size, head.hash)}`);
    bySize.set(head.size, other);
  }
  return undefined;
}

function forkOf({ origin, last, hashes }: TailOf, heads: readonly ChainHead[]): TailVerdict | undefined {
  if (origin === undefined) return undefined;
  for (const { size, hash } of heads) {
    if (size > last) continue;
    const own = hashes.get(size);
    if (own !== undefined && equal(own, hash)) continue;
    return fork(
      size,
      `head witnessed ${shown(size, hash)}, found ${own === undefined ? `no frame that ends at ${size}` : shown(size, own)}`,
    );
  }
  return undefined;
}

function fork(sequence: number, why: string): TailVerdict {
  return { is: 'FORK', sequence, sentence: `FORK: ${why}` };
}

function shown(size: number, hash: Uint8Array): string {
  return `${size} ${Buffer.from(hash).toString('base64')}`;
}

function equal(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

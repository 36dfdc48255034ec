/** Chains where a person says they are, and the way through one of them: what verify and read have in common. */
import { StoreFault } from '#core/audit/object-store.ts';
import { parseStoreAddress, StoreAddressUnusable } from '#core/audit/store-address.ts';
import type { ChainVerifier } from '#core/audit/verify.ts';
import { systemClock } from '#core/bounds/clock.ts';
import { type ChainSource, inOrder, storedChains } from './audit-source.ts';
import { UsageError } from './report-failure.ts';

export interface Found extends AsyncDisposable {
  readonly chains: readonly ChainSource[];
}

/** Chains at files, folders, `s3://` and `file://` addresses. Throws UsageError. */
export async function chainsAt(paths: readonly string[]): Promise<Found> {
  await using stack = new AsyncDisposableStack();
  const addresses = paths.filter((path) => /^(?:s3|file):\/\//.test(path));
  const { fileChains } = await import('./audit-files.ts');
  const chains = [...(await fileChains(paths.filter((path) => !addresses.includes(path))))];
  for (const text of addresses) {
    const address = storeAddress(text);
    if (address.kind === 'file') {
      chains.push(...(await fileChains([address.folder])));
      continue;
    }
    const { openStore } = await import('#core/runtime/open-store.ts');
    const store = stack.use(await asked(() => openStore(address, { clock: systemClock, env: process.env })));
    chains.push(...(await asked(() => storedChains(store, store.address))));
  }
  const kept = stack.move();
  return { chains, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

function storeAddress(text: string): ReturnType<typeof parseStoreAddress> {
  try {
    return parseStoreAddress(text);
  } catch (thrown) {
    if (thrown instanceof StoreAddressUnusable)
      throw new UsageError(thrown.message, 'Write s3://BUCKET/PREFIX?region=..&endpoint=.. or a folder.');
    throw thrown;
  }
}

/** What a store refuses, as a failure with its cure. Throws UsageError. */
export async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof StoreFault) throw new UsageError(thrown.message, 'Nothing was judged; try again when the store can be read.');
    throw thrown;
  }
}

/**
 * Shows the verifier every segment, in order, until one is broken. `afterPiece` is awaited before the next bytes are read, so that frames
 * the verifier has passed on are still there meanwhile; it is not asked about the store's failures.
 */
export async function walkSegments(
  source: ChainSource,
  verifier: ChainVerifier,
  afterPiece: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  for (const segment of await asked(() => inOrder(source.segments))) {
    verifier.begin(segment.bytes);
    if (verifier.isBroken) return;
    await asked(async () => {
      for await (const piece of segment.pieces()) {
        verifier.push(piece);
        await afterPiece();
        if (verifier.isBroken) return;
      }
    });
    verifier.end();
    if (verifier.isBroken) return;
  }
}

export function noChain(): Error {
  return new UsageError(
    'There is no chain here: no *.seg file, and no log of a sidecar.',
    'Name the folder or bucket that holds it. If it was there once, give --head: a missing chain is a finding.',
  );
}

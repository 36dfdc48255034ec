/** Waiting for a chain that disk, witness or authority keep from going on, and what stands in its folder then. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditChain } from '#sidecar/audit/chain.ts';
import { entry, readChain } from './chain-stage.ts';

export const REFUSED = { reason: 'AUDIT_UNAVAILABLE' };

export async function until(what: () => boolean | Promise<boolean>, why: string): Promise<void> {
  for (let tries = 0; !(await what()); tries += 1) {
    assert.ok(tries < 3_000, why);
    await sleep(10);
  }
}

/** Appends until it is taken. */
export async function appendSoon(chain: AuditChain, text: string): Promise<void> {
  await until(
    () =>
      chain.append(entry(text)).then(
        () => true,
        () => false,
      ),
    'the chain takes records again',
  );
}

export const textsIn = async (folder: string) => (await readChain(folder)).texts.map(({ text }) => text);

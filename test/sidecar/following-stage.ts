/** One process, as far as its audit goes: a chain on a real folder, an operator whose word is given by hand, and what the chain says. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Decrypter } from 'age-encryption';
import type { Creation } from '#core/audit/object-store.ts';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { createLog } from '#core/runtime/log.ts';
import { SidecarMetrics } from '#core/runtime/metrics.ts';
import type { AuditControl, AuditTerms } from '#sidecar/audit/audit-control.ts';
import type { Authority } from '#sidecar/audit/authority.ts';
import { followTerms } from '#sidecar/follow-terms.ts';
import { Audit } from '#sidecar/open-audit.ts';
import { IDENTITY, makeAuthority, ORIGIN, readChain } from './audit/chain-stage.ts';

export const TERMS: AuditTerms = { recipients: [IDENTITY.recipient], origin: ORIGIN, shipped: false, keepsIntents: false };
export const OFF: AuditTerms = { ...TERMS, recipients: [] };
/** What OperatorAudit makes of an operator that knows no audit. */
export const TOO_OLD: AuditTerms = { ...OFF, origin: '' };

/** Waits are a tenth as long. */
export const hasty: Clock = { ...systemClock, wallMs: () => systemClock.wallMs(), alarm: (ms, ring) => systemClock.alarm(ms / 10, ring) };

interface Options {
  readonly terms?: AuditTerms;
  readonly clock?: Clock;
  readonly authority?: Authority;
}

export async function startFollowing(folder: string, options: Options = {}) {
  let { terms } = options;
  const { clock = systemClock, authority = makeAuthority() } = options;
  let listener: ((terms: AuditTerms) => void) | undefined;
  const shipped: string[] = [];
  const control: AuditControl = {
    terms: () => terms,
    onTerms: (heard) => {
      listener = heard;
      return () => {
        listener = undefined;
      };
    },
    authority,
    sink: {
      put: async ({ kind, number }): Promise<Creation> => {
        shipped.push(`${kind} ${number}`);
        return 'created';
      },
    },
  };
  const log = createLog({ level: 'error', destination: { write: () => {} } });
  const means = { clock, log, metrics: new SidecarMetrics(clock, 'test') };
  const audit = new Audit(means, { folder, authority });
  let resumed = 0;
  const found: string[] = [];
  const unfollow = await followTerms(audit, means, folder, control);
  audit.listen({
    resumed: () => {
      resumed += 1;
    },
    opened: (operations) => found.push(...operations.keys()),
  });
  const tell = (text: string) => audit.recorder.tell({ record: 'session', event: 'state', state: 'Active', because: text });
  return {
    audit,
    shipped,
    found,
    tell,
    get resumed() {
      return resumed;
    },
    says: (next: AuditTerms) => {
      terms = next;
      listener?.(next);
    },
    /** Without an end, as a kill leaves it. */
    kill: async () => {
      await unfollow();
      await audit.recorder.flush();
      await audit.close();
    },
    stop: async () => {
      await unfollow();
      await audit.end();
      await audit.close();
    },
  };
}

export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; !(await holds()); tries += 1) {
    assert.ok(tries < 1_000, `waited in vain until ${what}`);
    await sleep(20);
  }
}

/** What was told, and what the session said of itself. */
export async function wordsOf(folder: string): Promise<readonly string[]> {
  const { frames } = await readChain(folder);
  const decrypter = new Decrypter();
  decrypter.addIdentity(IDENTITY.secret);
  const all: string[] = [];
  for (const frame of frames) {
    if (frame.form === 'statement') {
      const kind = frame.heads[0].kind;
      if (kind === 'segment' || kind === 'end') all.push(kind);
      continue;
    }
    for (const line of (await decrypter.decrypt(frame.body, 'text')).trimEnd().split('\n')) {
      const { event, because, on } = JSON.parse(line);
      all.push(event === 'recording' ? `recording ${on}` : event === 'ended' ? 'ended' : because);
    }
  }
  return all;
}

/** The audit of a sidecar without an operator: recipients, key and store from the command line. */
import { join } from 'node:path';
import { StoreFault } from '#core/audit/object-store.ts';
import { RecipientUnusable } from '#core/audit/seal.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { openStore, STORE_WARNINGS } from '#core/runtime/open-store.ts';
import { KeyUnusable, openLocalAuthority } from '#sidecar/audit/local-authority.ts';
import { createOwnSink } from '#sidecar/audit/own-sink.ts';
import { StoreProbe } from '#sidecar/audit/store-probe.ts';
import { Audit, type AuditMeans } from '#sidecar/open-audit.ts';
import type { SidecarSettings } from '#sidecar/settings.ts';
import { StartRefused } from '#sidecar/start-refused.ts';

/** Of a start that somebody watches. Throws StartRefused where one is wanted and cannot be had. */
export async function ownAuditOrRefuse(means: AuditMeans, settings: SidecarSettings): Promise<Audit> {
  const { audit: wanted, state, auditFolder = join(state ?? '', 'audit') } = settings;
  if (wanted === undefined || state === undefined) {
    means.log.warn('nothing is recorded: no recipient of the audit is named');
    return new Audit(means, undefined);
  }
  try {
    const authority = openLocalAuthority(wanted.keyFile);
    means.log.info('the key of the audit', { verifier_key: authority.verifier });
    const store = await openStore(wanted.store, { clock: means.clock, env: wanted.env });
    const probe = new StoreProbe({
      store,
      clock: means.clock,
      onWarning: (warning) => means.log.warn(STORE_WARNINGS[warning], { rule: warning }),
    });
    await tryStore(probe, means);
    const audit = new Audit(means, { folder: auditFolder, authority });
    const chain = await audit.open({ recipients: wanted.recipients });
    await audit.ship({
      sink: probe.before(createOwnSink(store, chain.origin)),
      isUnsafe: () => probe.unsafe,
      release: async () => store[Symbol.asyncDispose](),
    });
    return audit;
  } catch (fault) {
    throw refused(fault);
  }
}

/** A store that is away, or replaces what it has, may be mended: meanwhile what is recorded waits on disk (failure case AUD-18). */
async function tryStore(probe: StoreProbe, { log }: AuditMeans): Promise<void> {
  try {
    await probe.ask();
  } catch (fault) {
    if (!(fault instanceof StoreFault)) throw fault;
    if (fault.kind === 'unavailable') log.warn('the store of the audit is away; what is recorded waits on disk', {}, fault);
    else if (fault.kind === 'unsafe')
      log.error('the store of the audit replaces what it has, so nothing is shipped; what is recorded waits on disk', {}, fault);
    else throw fault;
  }
}

function refused(fault: unknown): unknown {
  if (fault instanceof KeyUnusable) return new StartRefused(`its audit has no key: ${fault.message}`, fault.cure);
  if (fault instanceof RecipientUnusable) return new StartRefused('a recipient of the audit cannot be used', fault.message);
  if (fault instanceof StoreFault)
    return new StartRefused(
      `the store of its audit cannot be used: ${fault.message}`,
      'Name another with --audit-store, or give it the rights.',
    );
  if (fault instanceof PosternError)
    return new StartRefused(
      `its audit cannot be kept: ${fault.message}`,
      'Look at the folder of --audit. Only one sidecar may use it; what it holds is the proof of what was done.',
    );
  return fault;
}

/**
 * Composition root of the sidecar: builds its parts, starts them, stops them in reverse. The gRPC port listens first;
 * metrics and probes come after it, because their web framework costs more than the rest of the start.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '#core/bounds/limits.ts';
import type { CompiledBinding } from '#core/contract/compiled-binding.ts';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import { createSealer } from '#core/encoding/seal.ts';
import { GrpcServer } from '#core/runtime/grpc-server.ts';
import { addHealth, HealthState } from '#core/runtime/health.ts';
import { disarm, runtimeFacts, runtimeProblems } from '#core/runtime/hostile-runtime.ts';
import { createLog, type Log } from '#core/runtime/log.ts';
import type { SidecarMetrics } from '#core/runtime/metrics.ts';
import { startProbes } from '#core/runtime/probes.ts';
import { addReflection } from '#core/runtime/reflection.ts';
import { ActionService } from '#proto/postern/v1/action_pb.ts';
import { ActionCalls } from '#sidecar/call/action-calls.ts';
import type { AuditedRecorder } from '#sidecar/call/audited-recorder.ts';
import { DoubtfulReads } from '#sidecar/call/doubtful-reads.ts';
import { EvidenceSealer } from '#sidecar/call/evidence.ts';
import { tellLeftOpen } from '#sidecar/call/left-open.ts';
import { compileBundle } from '#sidecar/compile-bundle.ts';
import { type Configuration, fixedConfiguration } from '#sidecar/configuration.ts';
import type { ControlSettings } from '#sidecar/control/control-settings.ts';
import { KeptBundle } from '#sidecar/control/kept-bundle.ts';
import type { CredentialStore } from '#sidecar/credential/store.ts';
import { Cursors } from '#sidecar/cursor/cursor.ts';
import type { SessionKeys } from '#sidecar/cursor/keys.ts';
import type { Destinations } from '#sidecar/execute/http/destinations.ts';
import { followTerms } from '#sidecar/follow-terms.ts';
import type { DurableJournal } from '#sidecar/journal/durable-journal.ts';
import { Operations } from '#sidecar/journal/operations.ts';
import { Audit } from '#sidecar/open-audit.ts';
import { journalOrNone, journalOrRefuse, openEffects } from '#sidecar/open-effects.ts';
import { ownAuditOrRefuse } from '#sidecar/own-audit.ts';
import { type Parts, partsOf } from '#sidecar/parts.ts';
import { questionWatch, recordCalls } from '#sidecar/record-calls.ts';
import { actionService } from '#sidecar/serve/action-service.ts';
import { bundleEvent } from '#sidecar/session-events.ts';
import { keysOrNone, keysOrRefuse } from '#sidecar/session-keys.ts';
import type { SidecarSettings } from '#sidecar/settings.ts';
import { StartRefused, systemCodeOf } from '#sidecar/start-refused.ts';
import { startWarnings } from '#sidecar/start-warnings.ts';

export interface RunningSidecar {
  /** Where it listens; of use where a free port was taken. */
  readonly port: number;
  readonly adminPort: number;
  /** Says that it is not serving, takes no new calls, lets running ones end within limits.drainMsMax, then resolves. */
  stop(): Promise<void>;
  /** The last line of the log, for a fault nobody caught; the message of `fault` is not written. */
  crashed(fault: unknown): void;
}

/** Serves files. Throws StartRefused with every reason: a hostile runtime, contracts with problems, a port or a folder it cannot have. */
export async function startSidecar(objects: readonly ResourceObject[], settings: SidecarSettings): Promise<RunningSidecar> {
  refuseHostileRuntime();
  refuseMissingCredentials(settings.credentials);
  const parts = partsOf(settings, createLog({ level: settings.logLevel }));
  const { bundle, bindings, problems } = compileBundle(objects, parts.remotes);
  if (bundle === undefined) throw new StartRefused('the contracts have problems', LINT, problems);
  parts.metrics.serve(bundle.actions().map(({ contract }) => contract));
  const keys = keysOrRefuse(settings.state);
  parts.events.tell(bundleEvent(bundle));
  warnOf(bindings, settings, parts.log);
  if (settings.allowLoopback) parts.log.warn('loopback destinations are allowed, for development only');
  const journal = await journalOrRefuse(parts, settings.state);
  const audit = await ownAuditOrRefuse(parts, settings);
  return serve(parts, settings, keys, { configuration: fixedConfiguration(bundle), journal, audit });
}

/**
 * Serves what an operator sends. Throws StartRefused for a hostile runtime or a port it cannot have; nothing else keeps it from
 * starting, because a pod waits for it: neither an operator that is away nor a folder that cannot be used.
 */
export async function startControlledSidecar(control: ControlSettings, settings: SidecarSettings): Promise<RunningSidecar> {
  refuseHostileRuntime();
  return serveControlled(control, settings, createLog({ level: settings.logLevel }));
}

/** `startControlledSidecar` in a process whose runtime is somebody else's. */
export async function serveControlled(control: ControlSettings, settings: SidecarSettings, log: Log): Promise<RunningSidecar> {
  // A standalone start does not pay for it.
  const { OperatorConfiguration } = await import('#sidecar/operator-configuration.ts');
  const parts = partsOf(settings, log);
  const { keys, directory } = keysOrNone(settings.state, log);
  const journal = await journalOrNone(parts, directory);
  const configuration = new OperatorConfiguration({
    ...parts,
    ...(journal === undefined ? {} : { keeper: journal }),
    control,
    version: settings.version,
    instance: keys.instance,
    kept: directory === undefined ? undefined : new KeptBundle(directory, keys.stateKey),
  });
  await configuration.restore();
  const folder = settings.auditFolder ?? join(directory ?? settings.state ?? '.', 'audit');
  const audit = new Audit(parts, { folder, authority: configuration.audit.authority });
  const unfollow = await followTerms(audit, parts, folder, configuration.audit);
  return serve(parts, settings, keys, { configuration, journal, audit, unfollow });
}

/** What differs by who configures. */
interface Configured {
  readonly configuration: Configuration;
  readonly journal: DurableJournal | undefined;
  readonly audit: Audit;
  /** The audit hears no terms any more. */
  readonly unfollow?: () => Promise<void>;
}

async function serve(
  parts: Parts,
  settings: SidecarSettings,
  keys: SessionKeys,
  { configuration, journal, audit, unfollow }: Configured,
): Promise<RunningSidecar> {
  const { clock, log, metrics, destinations } = parts;
  const { recorder, sayAgain } = recordCalls({ ...parts, configuration, audit: audit.recorder, version: settings.version });
  audit.listen({ resumed: sayAgain, opened: (found) => tellLeftOpen(found, { audit: audit.recorder, journal }) });
  const operations = new Operations(clock, limits.operationsKeptMax);
  const opened = await openEffects({
    clock,
    configuration,
    journal,
    wanted: settings.state !== undefined,
    approvals: settings.approvals,
    metrics: metrics.effects,
    watch: questionWatch(audit.recorder),
  });
  const calls = new ActionCalls(() => configuration.bundle(), {
    clock,
    standing: configuration.standing,
    operations,
    recorder,
    cursors: new Cursors(createSealer('cursor', keys.ring), keys.session, clock),
    evidence: new EvidenceSealer(createSealer('evidence', keys.ring), keys.session),
    doubtful: new DoubtfulReads(clock),
    effects: opened.effects,
  });
  readAtScrape(metrics, { calls, operations, ...parts });
  const health = new HealthState();
  const server = serverOf(calls, { health, metrics, recorder });
  const port = await server.listen(settings.host, settings.port).catch(refuseToListen('calls', '--listen', settings.host, settings.port));
  health.set(true);
  const probes = await startProbes({
    host: settings.adminHost,
    port: settings.adminPort,
    notReady: () => (health.serving ? [...configuration.notReady(), ...opened.notReady(), ...audit.notReady()] : ['stopping']),
    notStarted: () => configuration.notStarted(),
    metrics: () => metrics.exposition(),
  }).catch(async (fault) => {
    // Half a sidecar must not go on serving: nobody could probe it.
    health.stop();
    await server.close(0);
    return refuseToListen('probes', '--admin-listen', settings.adminHost, settings.adminPort)(fault);
  });
  configuration.begin();
  calls.begin();
  log.info('serving', {
    address: `${settings.host}:${port}`,
    admin_address: `${settings.adminHost}:${probes.port}`,
    count: configuration.bundle()?.actions().length ?? 0,
  });
  return {
    port,
    adminPort: probes.port,
    stop: async () => {
      log.info('stopping', { count: calls.running });
      health.stop();
      const sinceMs = clock.monotonicMs();
      await server.close(limits.drainMsMax);
      // Callers may have left what they began; what is under way still has the rest of the time.
      await calls.stop(Math.max(0, limits.drainMsMax - (clock.monotonicMs() - sinceMs)));
      // Whoever witnesses the end of the chain is asked over the control stream.
      await unfollow?.();
      await audit.end();
      // The operator first: what it must still be told is kept in the journal.
      await configuration.stop();
      await opened.close();
      await audit.close();
      destinations.close();
      await probes.close();
      log.info('stopped');
      log.flush();
    },
    crashed: (fault) => {
      log.error('a fault of its own ends the sidecar', {}, fault);
      log.flush();
    },
  };
}

function serverOf(calls: ActionCalls, means: { health: HealthState; metrics: SidecarMetrics; recorder: AuditedRecorder }): GrpcServer {
  const { health, metrics, recorder } = means;
  const server = new GrpcServer({
    onGuardEvent: (event) => {
      metrics.streamRefused(event);
      recorder.turnedAway(event);
    },
    onCallEnd: (end) => {
      recorder.served(end);
      if (end.claims.length > 0) metrics.claimsIgnored();
    },
  });
  server.add(ActionService, actionService(calls));
  addHealth(server, health, [ActionService.typeName]);
  addReflection(server, [ActionService]);
  return server;
}

/** Gauges: read when somebody asks, so that a call does not pay for them. */
function readAtScrape(
  metrics: SidecarMetrics,
  parts: { calls: ActionCalls; operations: Operations; destinations: Destinations; store: CredentialStore },
): void {
  metrics.runningCalls(() => parts.calls.running);
  metrics.keptOperations(() => parts.operations.size);
  metrics.pools(() => parts.destinations.connections());
  metrics.credentials(() => parts.store.states());
}

function warnOf(bindings: readonly CompiledBinding[], settings: SidecarSettings, log: Log): void {
  for (const warning of startWarnings(bindings, settings.credentials, settings.allowLoopback)) {
    log.warn(warning.kind, { binding: warning.binding, ...('file' in warning ? { object: warning.file } : {}) });
  }
}

/** Single files may come later; a folder that is not there is a typo, and every call would answer VAULT_LOCKED. */
function refuseMissingCredentials(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new StartRefused(`there is no folder ${folder} with credentials`, 'Name the folder with --credentials; it holds <secret>/<key>.');
}

const LINT = 'Mend them; "postern contract lint" shows the same.';

/** For a port that cannot be taken: who holds it is for a person to find out. */
function refuseToListen(what: string, flag: string, host: string, port: number): (fault: unknown) => never {
  return (fault) => {
    const code = systemCodeOf(fault);
    const why = code === 'EADDRINUSE' ? 'another process listens there' : code;
    throw new StartRefused(
      `it cannot listen for ${what} on ${host}:${port}: ${why}`,
      `Name another address with ${flag}; port 0 takes a free one.`,
    );
  };
}

function refuseHostileRuntime(): void {
  const found = runtimeProblems(runtimeFacts(process));
  if (found.length > 0)
    throw new StartRefused(
      found.join('\n'),
      'Start it with an empty environment and no flags of Node: env -i PATH="$PATH" postern sidecar ...',
    );
  disarm(process);
}

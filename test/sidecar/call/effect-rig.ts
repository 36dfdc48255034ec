/**
 * The calls of a sidecar over a real HTTP remote that counts: contracts compiled as in production, the real journal, the real decider of a
 * sidecar alone, whose person is the test. What a test replaces is named in its options.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { readYaml } from '#core/contract/read-yaml.ts';
import { createSealer } from '#core/encoding/seal.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Decider } from '#sidecar/approval/decider.ts';
import { LocalDecider } from '#sidecar/approval/local-decider.ts';
import { ActionCalls } from '#sidecar/call/action-calls.ts';
import type { Bundle } from '#sidecar/call/bundle.ts';
import type { CallContext, ExecuteResult, PlanView } from '#sidecar/call/calls.ts';
import { DoubtfulReads } from '#sidecar/call/doubtful-reads.ts';
import { EvidenceSealer } from '#sidecar/call/evidence.ts';
import type { Recorder } from '#sidecar/call/recorder.ts';
import { ALWAYS_GOOD, type Standing } from '#sidecar/call/standing.ts';
import { compileBundle } from '#sidecar/compile-bundle.ts';
import { CredentialStore } from '#sidecar/credential/store.ts';
import { Cursors } from '#sidecar/cursor/cursor.ts';
import { ephemeralKeys, type SessionKeys } from '#sidecar/cursor/keys.ts';
import { Destinations } from '#sidecar/execute/http/destinations.ts';
import type { Journal } from '#sidecar/journal/journal.ts';
import { Operations } from '#sidecar/journal/operations.ts';
import { contractFile } from '#test/flow/contract-file.ts';
import { type Answer, sendJson, startUpstream, type Upstream } from '#test/flow/stage.ts';
import { MemoryJournal } from '#test/sidecar/journal/memory-journal.ts';

/** The gist of every contract of writes here; `more` goes below the rest, indented by two. */
export function writeContract(more: string, { url = 'UPSTREAM/notes/$(args.id)', method = 'POST' } = {}): string {
  return `
  summary: Put the note $(args.text) on $(args.id)
  effect: Write
  arguments: {type: object, additionalProperties: false, required: [id, text], properties: {id: {type: string, maxLength: 20, pattern: "^[a-z0-9]+$"}, text: {type: string, maxLength: 60, pattern: "^[a-z0-9 ]*$"}}}
  http: {credential: reader, method: ${method}, url: "${url}", body: {json: {text: $(args.text)}}}
  result: {object: /, as: note, fields: [{name: id, presence: Optional}]}
${more.replace(/^\n/, '').trimEnd()}`;
}

/** A write that nobody has to agree to. */
export const FREE = writeContract('  approval: {mode: None, because: a test}');
/** A write that a person has to agree to, each time. */
export const ASKED = writeContract('  approval: {mode: EachCall}');

/** The read of one note: what recheck, prepare and settle look at. */
export const READ_NOTE = `
  summary: Read the note $(args.id)
  arguments: {type: object, additionalProperties: false, required: [id], properties: {id: {type: string, maxLength: 20, pattern: "^[a-z0-9]+$"}}}
  http: {credential: reader, method: GET, url: "UPSTREAM/notes/$(args.id)"}
  result: {object: /, as: note, fields: [{name: id}, {name: state}]}
  completeness: {scope: {resource: one note, visibility: all, absence: Never}}`;

export interface RigOptions {
  readonly contracts?: Readonly<Record<string, string>>;
  readonly answer?: Answer;
  readonly journal?: Journal;
  readonly standing?: Standing;
  readonly recorder?: Partial<Recorder>;
  readonly clock?: Clock;
  /** Shared by the processes of one session. */
  readonly keys?: SessionKeys;
  readonly upstream?: Upstream;
  /** Changes the YAML of contracts and binding before it is read. */
  readonly edit?: (yaml: string) => string;
  /** Instead of the one of a sidecar alone. */
  readonly decider?: (journal: Journal) => Decider;
  /** Around the one of a sidecar alone. */
  readonly wrap?: (decider: Decider) => Decider;
}

export interface Rig extends AsyncDisposable {
  readonly calls: ActionCalls;
  readonly journal: Journal;
  readonly decider: LocalDecider;
  readonly upstream: Upstream;
  readonly keys: SessionKeys;
  /** What the recorder heard, in order. */
  readonly told: string[];
  /** Requests that change something. */
  effects(): number;
  execute(action: string, args: unknown, extra?: CallExtra): Promise<ExecuteResult>;
  /** The error of a call that must fail. */
  refused(action: string, args: unknown, extra?: CallExtra): Promise<PosternError>;
  prepare(action: string, args: unknown, extra?: CallExtra): Promise<PlanView>;
  confirm(planId: string, extra?: CallExtra): Promise<ExecuteResult>;
  /** A person says yes to the card of this operation as it stands. */
  approve(operationId: string): Promise<void>;
  deny(operationId: string): Promise<void>;
  /** A person says yes to another plan on that card. */
  choose(operationId: string, alternative: string): Promise<void>;
  bundle(): Bundle;
  /** Serves other contracts from now on. */
  serve(contracts: Readonly<Record<string, string>>): void;
}

export interface CallExtra {
  readonly operationId?: string;
  readonly evidence?: readonly string[];
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

export const NOTE = { id: 'one', text: 'hello' };

export function answerNote(_request: unknown, response: ServerResponse): void {
  sendJson(response, 200, { id: 'one', state: 'open' });
}

export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const upstream = options.upstream ?? (await startUpstream(options.answer ?? answerNote));
  const directory = mkdtempSync(join(tmpdir(), 'postern-effects-'));
  mkdirSync(join(directory, 'postern-flow'));
  writeFileSync(join(directory, 'postern-flow', 'token'), 'a-token-of-the-test');
  const clock = options.clock ?? systemClock;
  const destinations = new Destinations({ allowLoopback: true });
  const store = new CredentialStore({ directory, clock, onRead: () => {} });
  const edit = options.edit ?? ((yaml: string) => yaml);
  let bundle = compiled(options.contracts ?? { 'put-note': FREE });
  const journal = options.journal ?? new MemoryJournal(clock);
  const local = new LocalDecider({ journal, clock, reachable: true, contractOf: (name) => bundle.byContract(name)?.contract });
  const keys = options.keys ?? ephemeralKeys();
  const told: string[] = [];
  const calls = new ActionCalls(() => bundle, {
    clock,
    operations: new Operations(clock, 100),
    recorder: recorderOf(told, options.recorder),
    cursors: new Cursors(createSealer('cursor', keys.ring), keys.session, clock),
    evidence: new EvidenceSealer(createSealer('evidence', keys.ring), keys.session),
    standing: options.standing ?? ALWAYS_GOOD,
    doubtful: new DoubtfulReads(clock),
    effects: { journal, decider: options.decider?.(journal) ?? options.wrap?.(local) ?? local },
  });
  calls.begin();

  function compiled(contracts: Readonly<Record<string, string>>): Bundle {
    const { objects, problems } = readYaml(
      edit(contractFile(contracts).replaceAll(/\bUPSTREAM\b/g, `http://127.0.0.1:${upstream.port}`)),
      'rig.yaml',
    );
    const result = compileBundle(objects, { store, destinations, clock, onAnomaly: () => {} });
    // A server left open would keep the test from ending.
    if (result.bundle === undefined) void upstream[Symbol.asyncDispose]();
    if (result.bundle === undefined) throw new Error(JSON.stringify([...problems, ...result.problems]));
    return result.bundle;
  }

  const contextOf = ({ signal }: CallExtra): CallContext => ({
    requestId: `req_${Math.random().toString(36).slice(2)}`,
    signal: signal ?? new AbortController().signal,
    onProgress: () => {},
  });
  const callOf = (action: string, args: unknown, { signal: _signal, ...extra }: CallExtra) => ({
    action,
    argumentsJson: Buffer.from(JSON.stringify(args)),
    ...extra,
  });
  const execute: Rig['execute'] = (action, args, extra = {}) =>
    calls.execute({ ...callOf(action, args, extra), onePage: false }, contextOf(extra));
  const decide = async (operationId: string, verdict: 'approved' | 'denied', alternative?: string) => {
    const question = local.question(operationId.replace('_', '-'));
    if (question === undefined) throw new Error('nobody was asked');
    const said = { approver: 'tess', reason: '' };
    const chosen = question.alternatives.find(({ name }) => name === alternative);
    const { cardDigest } = chosen ?? question;
    if (verdict === 'denied') await local.decide(question.name, { verdict, cardDigest, ...said });
    else await local.decide(question.name, { verdict, cardDigest, ...said, ...(alternative === undefined ? {} : { alternative }) });
  };
  return {
    calls,
    journal,
    decider: local,
    upstream,
    keys,
    told,
    effects: () => upstream.requests.filter(({ method }) => method !== 'GET').length,
    execute,
    refused: (action, args, extra) =>
      execute(action, args, extra).then((result) => {
        throw new Error(`an answer came where an error was expected: ${result.operationId}`);
      }, PosternError.from),
    prepare: (action, args, extra = {}) => calls.prepare(callOf(action, args, extra), contextOf(extra)),
    confirm: (planId, extra = {}) =>
      calls.confirm({ planId, ...(extra.deadlineMs === undefined ? {} : { deadlineMs: extra.deadlineMs }) }, contextOf(extra)),
    approve: (operationId) => decide(operationId, 'approved'),
    deny: (operationId) => decide(operationId, 'denied'),
    choose: (operationId, alternative) => decide(operationId, 'approved', alternative),
    bundle: () => bundle,
    serve: (contracts) => {
      bundle = compiled(contracts);
    },
    [Symbol.asyncDispose]: async () => {
      await calls.stop(1000);
      local.close();
      destinations.close();
      if (options.upstream === undefined) await upstream[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function recorderOf(told: string[], own: Partial<Recorder> = {}): Recorder {
  return {
    intent: (passed, target) => {
      told.push(`intent ${passed.plan.served.contract.action}`);
      return own.intent?.(passed, target);
    },
    cursorUsed: () => {},
    outcome: (plan, end, durationMs) => {
      told.push(end.kind === 'answered' ? `answered ${plan.served.contract.action}` : `failed ${end.error.reason}`);
      return own.outcome?.(plan, end, durationMs);
    },
    replayed: (call) => {
      told.push(`replayed ${call.action}`);
      own.replayed?.(call);
    },
    refused: (_call, { reason }) => {
      told.push(`refused ${reason}`);
    },
    found: (operation, found) => own.found?.(operation, found),
  };
}

/**
 * postern.approval.v1.ApprovalService: decode, ask the decider, encode. Who decides is the owner of the socket; nothing in a request is
 * read as a name.
 */
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Implementation } from '#core/runtime/grpc-call.ts';
import { type ApprovalService, type DecideRequest, Fate, type ResolveRequest, Verdict } from '#proto/postern/approval/v1/approval_pb.ts';
import type { Answer } from '#sidecar/approval/answer.ts';
import type { Question } from '#sidecar/approval/decider.ts';
import type { LocalDecider, LostOperation } from '#sidecar/approval/local-decider.ts';

export interface ApprovalServiceMeans {
  readonly decider: LocalDecider;
  /** Recorded with each decision. */
  readonly approver: string;
  /** Aborted when the sidecar stops: a watch has no end of its own. */
  readonly stopping: AbortSignal;
}

export function approvalService({ decider, approver, stopping }: ApprovalServiceMeans): Implementation<typeof ApprovalService> {
  const questions = () => decider.open().map(questionMessage);
  const unknown = () => decider.lost().map(lostMessage);
  return {
    async list() {
      return { questions: questions() };
    },
    async watch(_request, { signal }, send) {
      const show = () => send({ questions: questions(), unknown: unknown() });
      show();
      await changes(decider, AbortSignal.any([signal, stopping]), show);
    },
    async decide(request) {
      const { approver: by, atMs } = await decider.decide(request.name, answerOf(request, approver));
      return { approver: by, decidedAtMs: BigInt(atMs) };
    },
    async listUnknown() {
      return { operations: unknown() };
    },
    async resolve(request) {
      const by = request.reason === '' ? approver : `${approver}: ${reasonOf(request)}`;
      await decider.resolve(request.operationId, fateOf(request), by);
      return { resolvedBy: by };
    },
  };
}

/** Calls `show` at every change until `signal` is aborted; an error of `show` ends it. */
function changes(decider: LocalDecider, signal: AbortSignal, show: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = decider.onList(() => {
      try {
        show();
      } catch (thrown) {
        end();
        reject(thrown);
      }
    });
    const end = () => {
      stop();
      signal.removeEventListener('abort', ended);
    };
    const ended = () => {
      end();
      resolve();
    };
    signal.addEventListener('abort', ended, { once: true });
    if (signal.aborted) ended();
  });
}

function answerOf(request: DecideRequest, approver: string): Answer {
  const { verdict, cardDigest, alternative } = request;
  if (cardDigest === '')
    throw invalid('/card_digest', 'required', 'Give the digest of the card that was read: a decision is about one card and no other.');
  const common = { approver, cardDigest, reason: reasonOf(request) };
  if (verdict === Verdict.APPROVED) return { verdict: 'approved', ...common, ...(alternative === '' ? {} : { alternative }) };
  if (verdict !== Verdict.DENIED) throw invalid('/verdict', 'required', 'Say VERDICT_APPROVED or VERDICT_DENIED.');
  if (alternative !== '') throw invalid('/alternative', 'forbidden', 'A no is to the whole question; leave the alternative out.');
  return { verdict: 'denied', ...common };
}

function fateOf({ fate }: ResolveRequest): 'done' | 'notDone' {
  if (fate === Fate.DONE) return 'done';
  if (fate === Fate.NOT_DONE) return 'notDone';
  throw invalid('/fate', 'required', 'Say FATE_DONE or FATE_NOT_DONE.');
}

function reasonOf({ reason }: { readonly reason: string }): string {
  if ([...reason].length <= limits.approvalReasonCharsMax) return reason;
  throw invalid('/reason', 'too_long', `A reason has at most ${limits.approvalReasonCharsMax} characters.`);
}

function questionMessage({ name, operationId, facts, card, cardDigest, alternatives }: Question) {
  return {
    name,
    operationId,
    action: facts.action,
    card,
    cardDigest,
    askedAtMs: BigInt(facts.askedAtMs),
    expiresAtMs: BigInt(facts.expiresAtMs),
    alternatives: alternatives.map((each) => ({ name: each.name, card: each.card, cardDigest: each.cardDigest })),
  };
}

function lostMessage({ operationId, action, card, argsDigest, plannedAtMs }: LostOperation) {
  return { operationId, action, card, argumentsDigest: argsDigest, plannedAtMs: BigInt(plannedAtMs) };
}

function invalid(path: string, rule: string, message: string): PosternError {
  return new PosternError('INVALID_ARGUMENT', message, { fields: [{ path, rule, message }] });
}

/** What a sidecar without an operator decides with: its journal, and a socket for people where `--approvals` names one. */
import type { Clock } from '#core/bounds/clock.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import { ApprovalService } from '#proto/postern/approval/v1/approval_pb.ts';
import { approverName, openApprovalSocket } from '#sidecar/approval/approval-socket.ts';
import { LocalDecider } from '#sidecar/approval/local-decider.ts';
import { SocketRefused } from '#sidecar/approval/socket-place.ts';
import type { Journal } from '#sidecar/journal/journal.ts';
import { approvalService } from '#sidecar/serve/approval-service.ts';
import { StartRefused } from '#sidecar/start-refused.ts';

export interface LocalApprovals {
  readonly decider: LocalDecider;
  /** Takes no more decisions; watches end. */
  close(): Promise<void>;
}

export interface LocalApprovalsOptions {
  readonly journal: Journal;
  readonly clock: Clock;
  /** Of the socket; without one a call that needs a person is refused. */
  readonly path: string | undefined;
  contractOf(name: string, namespace: string): CompiledContract | undefined;
}

/** Throws StartRefused for a path that cannot be used. */
export async function startLocalApprovals({ journal, clock, path, contractOf }: LocalApprovalsOptions): Promise<LocalApprovals> {
  const decider = new LocalDecider({ journal, clock, reachable: path !== undefined, contractOf });
  if (path === undefined) return { decider, close: async () => decider.close() };
  const stopping = new AbortController();
  const service = approvalService({ decider, approver: approverName(), stopping: stopping.signal });
  const socket = await openApprovalSocket(path, (server) => server.add(ApprovalService, service)).catch((thrown: unknown) => {
    decider.close();
    if (!(thrown instanceof SocketRefused)) throw thrown;
    throw new StartRefused(`it cannot take decisions: ${thrown.message}`, thrown.cure);
  });
  return {
    decider,
    close: async () => {
      stopping.abort();
      await socket.close();
      decider.close();
    },
  };
}

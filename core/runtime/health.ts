/**
 * grpc.health.v1.Health (https://github.com/grpc/grpc/blob/master/doc/health-checking.md), for probes that speak gRPC.
 * It says whether the sidecar takes calls, and nothing about actions (GRPC-19).
 */
import { PosternError } from '#core/error/postern-error.ts';
import { Health, HealthCheckResponse_ServingStatus as ServingStatus } from '#proto/health/v1/health_pb.ts';
import type { CallInfo, Implementation } from './grpc-call.ts';
import type { GrpcServer } from './grpc-server.ts';

export class HealthState {
  #serving = false;
  readonly #watchers = new Set<() => void>();
  readonly #stopped = new AbortController();

  get serving(): boolean {
    return this.#serving;
  }

  set(serving: boolean): void {
    if (this.#serving === serving) return;
    this.#serving = serving;
    for (const tell of this.#watchers) tell();
  }

  /** Not serving, for good: watchers are told and let go, or one of them would hold the end of the process until the grace is over. */
  stop(): void {
    this.set(false);
    this.#stopped.abort();
  }

  /** Calls `tell` on every change until `signal` is aborted or the state is stopped. */
  watch(tell: () => void, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#watchers.add(tell);
      const ends = [signal, this.#stopped.signal];
      const stop = () => {
        this.#watchers.delete(tell);
        for (const end of ends) end.removeEventListener('abort', stop);
        resolve();
      };
      for (const end of ends) end.addEventListener('abort', stop, { once: true });
      if (ends.some(({ aborted }) => aborted)) stop();
    });
  }
}

/** Serves the state for the whole server (empty name) and for the named services. */
export function addHealth(server: GrpcServer, state: HealthState, services: readonly string[]): void {
  const known = new Set(['', ...services]);
  const statusNow = () => (state.serving ? ServingStatus.SERVING : ServingStatus.NOT_SERVING);
  const implementation: Implementation<typeof Health> = {
    async check({ service }) {
      if (!known.has(service)) throw new PosternError('ACTION_UNKNOWN', 'There is no service of this name here.');
      return { status: statusNow() };
    },
    async list() {
      return { statuses: Object.fromEntries([...known].map((name) => [name, { status: statusNow() }])) };
    },
    async watch({ service }, { signal }: CallInfo, send) {
      const statusOfService = () => (known.has(service) ? statusNow() : ServingStatus.SERVICE_UNKNOWN);
      send({ status: statusOfService() });
      await state.watch(() => send({ status: statusOfService() }), signal);
    },
  };
  server.add(Health, implementation);
}

/**
 * What goes up by itself: credentials as they are mounted and warnings that are active, each when it changed and after every welcome.
 * Looked at only while a stream stands.
 */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { SidecarMetrics } from '#core/runtime/metrics.ts';
import type { ActiveWarningSchema, CredentialFileSchema } from '#proto/postern/control/v1/control_pb.ts';
import type { ControlMessage } from './stream.ts';

export type ReportedFile = Required<Omit<MessageInitShape<typeof CredentialFileSchema>, '$typeName' | '$unknown'>>;
export type ReportedWarning = Required<Omit<MessageInitShape<typeof ActiveWarningSchema>, '$typeName' | '$unknown'>>;

export interface ReportsOptions {
  readonly clock: Clock;
  /** Read from the disk. */
  credentials(): readonly ReportedFile[];
  warnings(): readonly ReportedWarning[];
  send(message: ControlMessage): void;
}

export class Reports {
  readonly #options: ReportsOptions;
  #cancel: (() => void) | undefined;
  #credentials = '';
  #warnings = '';
  #warnedMs = Number.NEGATIVE_INFINITY;

  constructor(options: ReportsOptions) {
    this.#options = options;
  }

  /** Says everything now, whatever was said before, and goes on looking. */
  begin(): void {
    this.end();
    this.#credentials = '';
    this.#warnings = '';
    this.#warnedMs = Number.NEGATIVE_INFINITY;
    this.look();
  }

  end(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Says what changed since, and looks again after limits.credentialReportMs. */
  look(): void {
    this.#cancel?.();
    this.#lookAtCredentials();
    this.#lookAtWarnings();
    this.#cancel = this.#options.clock.alarm(limits.credentialReportMs, () => this.look());
  }

  #lookAtCredentials(): void {
    const files = this.#options.credentials();
    const text = textOf(files);
    if (text === this.#credentials) return;
    this.#credentials = text;
    this.#options.send({ case: 'credentials', value: { files: [...files] } });
  }

  #lookAtWarnings(): void {
    const nowMs = this.#options.clock.monotonicMs();
    const sinceMs = nowMs - this.#warnedMs;
    if (sinceMs < limits.warningReportMs) return;
    const warnings = this.#options.warnings();
    const text = textOf(warnings.map((warning) => ({ ...warning, lastSeenMs: 0n })));
    if (text === this.#warnings && (sinceMs < limits.warningRefreshMs || warnings.length === 0)) return;
    this.#warnings = text;
    // Nothing to say is no word: the first warning after it goes up at once.
    if (warnings.length > 0) this.#warnedMs = nowMs;
    this.#options.send({ case: 'warnings', value: { warnings: [...warnings] } });
  }
}

function textOf(values: readonly object[]): string {
  return JSON.stringify(values, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

/** A warning of a call, as the operator hears of it. */
export function reportedWarning({ action, code, owner, firstMs, lastMs, expiresMs }: ReturnType<SidecarMetrics['activeWarnings']>[number]) {
  return {
    action,
    code,
    owner,
    firstSeenMs: BigInt(Math.round(firstMs)),
    lastSeenMs: BigInt(Math.round(lastMs)),
    expiresMs: BigInt(Math.round(expiresMs ?? 0)),
  } satisfies ReportedWarning;
}

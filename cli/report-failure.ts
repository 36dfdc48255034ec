/**
 * What a person sees when a command fails: our own sentence, the rules that were broken, what to do. Foreign text -
 * a system error, a stack - only for faults of Postern itself, and then to stderr of the person who runs it.
 */
import { PosternError } from '#core/error/postern-error.ts';

/** A mistake of the person at the keyboard: a file that is not there, a flag that does not fit. */
export class UsageError extends Error {
  readonly cure: string;
  constructor(message: string, cure: string) {
    super(message);
    this.name = 'UsageError';
    this.cure = cure;
  }
}

/** The API server refused, or could not be reached. */
export class ClusterRefused extends Error {
  readonly cure: string;
  constructor(message: string, cure: string, cause: unknown) {
    super(message, { cause });
    this.name = 'ClusterRefused';
    this.cure = cure;
  }
}

/** Prints to stderr and gives the exit code. */
export function reportFailure(thrown: unknown): number {
  if (thrown instanceof UsageError) {
    process.stderr.write(`error: ${thrown.message}\n  ${thrown.cure}\n`);
    return 2;
  }
  if (thrown instanceof ClusterRefused) {
    process.stderr.write(`error: ${thrown.message}\n  ${thrown.cure}\n`);
    return 1;
  }
  if (thrown instanceof PosternError) {
    process.stderr.write(`error: ${thrown.reason}: ${thrown.message}\n`);
    for (const field of thrown.fields) process.stderr.write(`  ${field.path || '/'}: ${field.message} (${field.rule})\n`);
    if (thrown.requestId !== undefined) process.stderr.write(`  request ${thrown.requestId}\n`);
    return 1;
  }
  process.stderr.write(`error: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}\n`);
  return 1;
}

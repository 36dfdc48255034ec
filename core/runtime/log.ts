/**
 * The log: one JSON object a line, with fields of a closed set.
 *
 * - A message is a constant phrase in lower case; facts are fields named as in the API.
 * - A field that is not in FIELDS, or whose value has not the form stated there, is not written: a secret has no way
 *   in, and nothing relies on recognising one (LEAK-01, LEAK-09). Argument values, bodies, headers never have a field.
 * - Of a foreign error only class, code and stack frames are written; its message may quote what it failed on.
 * - error = a person must act; warn = degraded, heals by itself; info = state changed; debug = per step.
 */
import { type DestinationStream, pino } from 'pino';
import { limits } from '#core/bounds/limits.ts';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug' | 'silent';

const NAME = /^[a-zA-Z0-9]([a-zA-Z0-9._/-]{0,251}[a-zA-Z0-9])?$/;
const WORD = /^[a-zA-Z][a-zA-Z0-9_]{0,62}$/;
const ID = /^[a-z]{2,4}_[a-z0-9]{26}$/;
const COUNT = 'count';

/** Every field there is, with the form of its value. */
const FIELDS = {
  component: WORD,
  request_id: ID,
  operation_id: ID,
  session: NAME,
  namespace: NAME,
  action: WORD,
  contract: NAME,
  binding: NAME,
  object: NAME,
  revision: /^sha256:[0-9a-f]{64}$/,
  method: WORD,
  /** A code of core/error/reasons.ts, or a closed word of the component. */
  reason: WORD,
  status: WORD,
  event: WORD,
  rule: WORD,
  limit: WORD,
  version: /^[0-9A-Za-z.+-]{1,40}$/,
  address: /^[0-9a-f.:[\]]{1,64}$/,
  admin_address: /^[0-9a-f.:[\]]{1,64}$/,
  /** Canonical origin of a host. */
  host: /^ssh:\/\/[0-9a-z.:[\]-]{1,270}$/,
  /** Fingerprints of SSH host keys: what it is, and what the binding pins. */
  host_key_shown: /^SHA256:[A-Za-z0-9+/]{43}$/,
  host_key_pinned: /^SHA256:[A-Za-z0-9+/]{43}(,SHA256:[A-Za-z0-9+/]{43}){0,7}$/,
  /** Where a chain of the audit stands: sequence and hash. */
  head_known: /^\d{1,16} sha256:[0-9a-f]{64}$/,
  head_shown: /^\d{1,16} sha256:[0-9a-f]{64}$/,
  /** Public half of the key of an authority (signed note). */
  verifier_key: /^[!-~]{1,300}\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/,
  ignored_metadata: /^[a-z-]+(,[a-z-]+)*$/,
  error_name: WORD,
  error_code: WORD,
  duration_ms: COUNT,
  waited_ms: COUNT,
  pages: COUNT,
  rows: COUNT,
  bytes: COUNT,
  count: COUNT,
  grpc_code: COUNT,
  complete: 'boolean',
} as const;

export type LogFields = {
  readonly [Name in keyof typeof FIELDS]?: (typeof FIELDS)[Name] extends 'count'
    ? number
    : (typeof FIELDS)[Name] extends 'boolean'
      ? boolean
      : string;
};

export interface Log {
  error(message: string, fields?: LogFields, cause?: unknown): void;
  warn(message: string, fields?: LogFields, cause?: unknown): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  /** The same log, with these fields on every line. */
  child(fields: LogFields): Log;
  /** Writes out what is buffered; for the end of the process. */
  flush(): void;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** Default: standard error. */
  readonly destination?: DestinationStream;
}

/**
 * Lines are written behind the caller and together, because a write of its own costs a call more than making the line;
 * errors are written at once. When nobody reads, the oldest buffer is kept and new lines are dropped.
 */
export function createLog({ level, destination }: LogOptions): Log {
  const stream = destination ?? gathered();
  const root = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
  return wrap(root, () => 'flushSync' in stream && typeof stream.flushSync === 'function' && stream.flushSync());
}

/** Standard error. A line that comes soon after another waits for more, at most limits.logGatherMsMax. */
function gathered(): DestinationStream & { flushSync(): void } {
  const stream = pino.destination({ dest: 2, sync: false, minLength: limits.logGatherBytesMax, maxLength: limits.logBufferBytesMax });
  let timer: NodeJS.Timeout | undefined;
  let waiting = false;
  let written = false;
  // While a write runs the stream forgets a flush: the line would lie there until the next one comes, or for ever.
  stream.on('drain', () => {
    if (!written) return;
    written = false;
    stream.flush();
  });
  const flush = () => {
    waiting = false;
    stream.flush();
    clearTimeout(timer);
    timer = setTimeout(onTimer, limits.logGatherMsMax).unref();
  };
  const onTimer = () => {
    timer = undefined;
    if (waiting) flush();
  };
  return {
    write(line: string) {
      stream.write(line);
      waiting = true;
      written = true;
      if (timer === undefined || line.startsWith(ERROR_LINE)) flush();
    },
    flushSync: () => stream.flushSync(),
  };
}

const ERROR_LINE = '{"level":"error"';

function wrap(logger: Pick<ReturnType<typeof pino>, 'error' | 'warn' | 'info' | 'debug' | 'child'>, flush: () => void): Log {
  const write =
    (level: 'error' | 'warn' | 'info' | 'debug') =>
    (message: string, fields: LogFields = {}, cause?: unknown) =>
      logger[level](cause === undefined ? allowed(fields) : { ...allowed(fields), ...faultOf(cause) }, message);
  return {
    error: write('error'),
    warn: write('warn'),
    info: write('info'),
    debug: write('debug'),
    child: (fields) => wrap(logger.child(allowed(fields)), flush),
    flush,
  };
}

function allowed(fields: LogFields): Record<string, string | number | boolean> {
  const clean: Record<string, string | number | boolean> = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name as keyof LogFields];
    if (value !== undefined && Object.hasOwn(FIELDS, name) && fits(FIELDS[name as keyof typeof FIELDS], value)) clean[name] = value;
    else if (value !== undefined) clean.unfit_field = WORD.test(name) ? name : 'unnamed';
  }
  return clean;
}

function fits(form: RegExp | 'count' | 'boolean', value: string | number | boolean): boolean {
  if (form === 'count') return typeof value === 'number' && Number.isFinite(value);
  if (form === 'boolean') return typeof value === 'boolean';
  return typeof value === 'string' && form.test(value);
}

const FRAME = /^\s+at [\w.<>$# [\]]{0,120} ?\(?(?:file:\/\/)?([\w./@+-]{1,300}:\d+:\d+)\)?$/;

/** Class, code and places of an error and of its causes; no message. */
function faultOf(thrown: unknown): Record<string, unknown> {
  if (!(thrown instanceof Error)) return { error_name: typeof thrown };
  const code = 'code' in thrown && typeof thrown.code === 'string' && WORD.test(thrown.code) ? { error_code: thrown.code } : {};
  const frames = (thrown.stack ?? '').split('\n').flatMap((line) => FRAME.exec(line)?.[1] ?? []);
  const cause = thrown.cause === undefined ? {} : { error_cause: faultOf(thrown.cause) };
  return { error_name: WORD.test(thrown.name) ? thrown.name : 'Error', ...code, error_at: frames.slice(0, limits.logFramesMax), ...cause };
}

/** One hostile call on one request template: assembled, given its credential, sent to the capture, judged. */
import type { Assembled, assemble } from '#core/contract/assemble.ts';
import type { RequestTemplate } from '#core/contract/compiled.ts';
import type { SlotValues } from '#core/contract/slot-value.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { type OutboundRequest, type Transport, TransportFailure } from '#sidecar/execute/http/transport.ts';
import { CANARY_SECRET } from './canary-credential.ts';
import { type Escape, judgeWire } from './judge-wire.ts';
import type { WireCapture } from './wire-capture.ts';

export type Attach = (request: OutboundRequest, signal: AbortSignal) => OutboundRequest | Promise<OutboundRequest>;

export interface EscapeRange {
  readonly capture: WireCapture;
  /** Speaks to the capture whatever the origin is. */
  readonly transport: Transport;
  readonly assemble: typeof assemble;
  /** Adds the credential, whose secret is the canary. */
  readonly attach: Attach;
}

export type ShotResult =
  | { readonly kind: 'contained' }
  /** Refused before anything was sent. */
  | { readonly kind: 'refused'; readonly rule: string }
  | { readonly kind: 'escaped'; readonly escapes: readonly Escape[]; readonly seen: string };

const SHOT_MS_MAX = 5_000;
const SEEN_BYTES_MAX = 600;
/** What the client writes of its own accord (sidecar/execute/http/client.ts). */
const CLIENT_HEADERS = ['host', 'connection', 'content-length', 'accept-encoding', 'user-agent', 'content-type'];

export async function fireShot(template: RequestTemplate, values: SlotValues, range: EscapeRange): Promise<ShotResult> {
  const signal = AbortSignal.timeout(SHOT_MS_MAX);
  let assembled: Assembled;
  let request: OutboundRequest;
  try {
    assembled = range.assemble(template, values);
    request = await range.attach(assembled.outbound, signal);
  } catch (thrown) {
    return refusal(thrown);
  }
  const outcome = await send(request, range.transport, signal);
  const connections = await range.capture.take();
  if (connections.length === 0 && outcome !== null) {
    return {
      kind: 'escaped',
      escapes: [{ where: 'connection', what: `the client would not send what was assembled (${outcome})` }],
      seen: '',
    };
  }
  const added = request.headers.slice(assembled.outbound.headers.length).map(([name]) => name);
  const escapes = judgeWire(connections, {
    template,
    values,
    host: template.origin.slice(template.origin.indexOf('//') + 2),
    addedHeaders: [...CLIENT_HEADERS, ...added],
    credential: { secret: CANARY_SECRET, headers: added },
  });
  if (escapes.length === 0) return { kind: 'contained' };
  const seen = Buffer.concat(connections).subarray(0, SEEN_BYTES_MAX).toString('latin1');
  return { kind: 'escaped', escapes, seen };
}

/** A refusal is good; an internal fault means that two parts of the assembler disagree: the last net held, and something above it is torn. */
function refusal(thrown: unknown): ShotResult {
  const error = PosternError.from(thrown);
  if (error.reason === 'INTERNAL') {
    return {
      kind: 'escaped',
      escapes: [{ where: 'assembler', what: 'the assembled request was not the one meant; the comparison stopped it' }],
      seen: '',
    };
  }
  return { kind: 'refused', rule: error.fields[0]?.rule ?? error.details.rule ?? error.reason };
}

/** `null` when an answer came. */
async function send(request: OutboundRequest, transport: Transport, signal: AbortSignal): Promise<string | null> {
  try {
    await transport.send(request, { signal, wireBytesMax: 65_536, bodyBytesMax: 65_536 });
    return null;
  } catch (thrown) {
    if (thrown instanceof TransportFailure) return thrown.kind;
    return 'refused by the client';
  }
}

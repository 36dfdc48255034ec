/**
 * `write.cjs post|note|recorded|approved WORKERS CALLS MILLISECONDS WARM_MS TARGET TOKEN_OR_SOCKET PID`: writes in a closed loop, each with an id of
 * its own. `post`: undici sends the POST itself, TARGET is the upstream. `note`, `recorded`: a sidecar's action without approval. `approved`: one
 * that a person approved once for many calls; the yes is given over the socket first.
 *
 * The client is the same process and language in all three, so that only what is in between differs. Prints what the load generator prints;
 * the CPU is that of PID, the sidecar, or of this process where there is none.
 */
import { readFileSync } from 'node:fs';
import { request } from 'undici';
import { PosternError } from '#core/error/postern-error.ts';
import { connect } from '#core/runtime/grpc-client.ts';
import { ApprovalService, Verdict } from '#proto/postern/approval/v1/approval_pb.ts';
import { ActionService } from '#proto/postern/v1/action_pb.ts';
import { drive, print } from './closed-loop.ts';

const [kind = '', workers = 1, callsMax = 1, msMax = 1, warmMs = 0] = process.argv
  .slice(2, 7)
  .map((text, index) => (index === 0 ? text : Number(text))) as [string, number, number, number, number];
const [target = '', extra = '', pid = '0'] = process.argv.slice(7);
// Ids of this process alone: an equal call would be the same operation.
const base = (process.pid % 100_000) * 10_000_000;
const TEXT = 'x'.repeat(120);

function post(): (index: number) => Promise<void> {
  return async (index) => {
    const body = JSON.stringify({ id: String(base + index), text: TEXT });
    const headers = { authorization: `Bearer ${extra}`, 'content-type': 'application/json' };
    const { statusCode, body: reply } = await request(`${target}/notes`, { method: 'POST', headers, body });
    const text = await reply.text();
    if (statusCode !== 201 || !text.includes('"number"')) throw new Error(`not the answer: ${statusCode} ${text}`);
  };
}

async function execute(): Promise<(index: number) => Promise<void>> {
  const client = connect(target).client(ActionService);
  const action = kind === 'approved' ? 'post_approved_note' : 'post_note';
  const call = async (index: number) => {
    const argumentsJson = Buffer.from(JSON.stringify({ id: String(base + index), text: TEXT }));
    let answered = false;
    // To its end: leaving at the result resets the stream, and a server closes connections with a thousand of those.
    for await (const { event } of client.execute({ action, argumentsJson })) answered ||= event.case === 'result';
    if (!answered) throw new Error('no answer');
  };
  if (kind === 'approved') await approve(call);
  return call;
}

/** As a person would, once; later processes of a run find the yes of the first. */
async function approve(call: (index: number) => Promise<void>): Promise<void> {
  const asked = await call(0).then(() => undefined, PosternError.from);
  if (asked === undefined) return;
  const { approval: name = '', cardDigest = '' } = asked.operation ?? {};
  if (asked.reason !== 'APPROVAL_REQUIRED') throw asked;
  const people = connect(`unix:${extra}`);
  await people.client(ApprovalService).decide({ name, verdict: Verdict.APPROVED, cardDigest });
  people.close();
}

/** User and system time of a process in microseconds; the kernel counts in hundredths of a second. */
function cpuUs(): number {
  if (pid === '0') {
    const { user, system } = process.cpuUsage();
    return user + system;
  }
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

async function main(): Promise<void> {
  const call = kind === 'post' ? post() : await execute();
  await drive(call, { workers, callsMax, msMax: warmMs });
  const before = cpuUs();
  const driven = await drive(call, { workers, callsMax, msMax });
  print(driven, cpuUs() - before, 0);
  process.exit(0);
}

void main();

/**
 * Follows the chain in a folder by looking again when a file there has changed: every look checks the whole of what is there, so a change of
 * what was shown is seen, too. What a sidecar gives back after shipping may vanish between two looks; a look that meets that is made again.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FrameOpener } from '#core/audit/open.ts';
import type { ChainRecord } from '#core/audit/record-members.ts';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { fileChains } from './audit-files.ts';
import { openerOf } from './audit-identities.ts';
import { recordJson, recordTablePortions } from './audit-print.ts';
import { type ReadChain, readChain } from './audit-records.ts';
import type { ChainSource } from './audit-source.ts';
import type { TailOptions } from './audit-tail.ts';
import { EXIT } from './exit.ts';
import { UsageError } from './report-failure.ts';
import { untilTold } from './until-told.ts';

/** Looks in a row that may fail before it is said: a file that was shipped away between listing and reading, no more. */
const LOOKS_MAX = 5;

export async function followFolder(folder: string, { identity, output }: TailOptions): Promise<void> {
  const opener = await openerOf(identity);
  const ended = new AbortController();
  void untilTold().then(() => ended.abort());
  const show = printer(output);
  let looked = await stateOf(folder);
  let next = (await look(folder, opener, Number.POSITIVE_INFINITY)).last + 1;
  process.stderr.write(`following from sequence ${next}; Ctrl-C ends\n`);
  for (let failed = 0; !ended.signal.aborted; ) {
    const state = await changed(folder, failed === 0 ? looked : undefined, ended.signal);
    const seen = await look(folder, opener, next).catch((thrown: unknown) => unread(thrown, failed));
    // A log in use loses files between listing and reading: what is wrong only once is no damage.
    const why = seen === undefined ? 'unread' : wrongWith(seen, next);
    failed = why === undefined ? 0 : failed + 1;
    if (seen === undefined || (why !== undefined && failed <= LOOKS_MAX)) continue;
    show(seen);
    if (why !== undefined) {
      process.stderr.write(`error: ${why}\n`);
      process.exit(EXIT.error);
    }
    if (seen.chain.verifier.origin !== undefined) next = seen.last + 1;
    looked = state;
  }
  process.exit(EXIT.complete);
}

/** What is there once it is something else than `looked`, or the end has come: what was written until then is still shown. */
async function changed(folder: string, looked: string | undefined, signal: AbortSignal): Promise<string> {
  for (;;) {
    await sleep(limits.auditTailMs, undefined, { signal }).catch(() => {});
    const state = await stateOf(folder);
    if (state !== looked || signal.aborted) return state;
  }
}

/** Changes when something is written, comes or goes there. A write since this was asked is met by the next look. */
async function stateOf(folder: string): Promise<string> {
  const names = await readdir(folder).catch((): string[] => []);
  const states = names.sort().map(async (name) => {
    const found = await stat(join(folder, name)).catch(() => undefined);
    return `${name} ${found?.ino} ${found?.size} ${found?.mtimeMs}`;
  });
  return (await Promise.all(states)).join('\n');
}

function unread(thrown: unknown, failed: number): undefined {
  if (failed >= LOOKS_MAX || !(thrown instanceof PosternError || thrown instanceof UsageError)) throw thrown;
}

/** Says once that there are records for others. */
function printer(output: TailOptions['output']): (seen: Look) => void {
  const render = output === 'table' ? recordTablePortions() : (records: readonly ChainRecord[]) => records.map(recordJson).join('');
  let warned = false;
  return ({ records, chain }) => {
    if (records.length > 0) process.stdout.write(render(records));
    if (chain.foreign === 0 || warned) return;
    warned = true;
    process.stderr.write(`warning: records come that no identity opens; they are sealed to: ${chain.recipients.join(', ')}\n`);
  };
}

function wrongWith({ chain, last }: Look, next: number): string | undefined {
  const { broken, origin } = chain.verifier.verdict();
  if (broken !== undefined) return `the chain is broken at sequence ${broken.sequence}: ${broken.sentence}. Nothing behind it counts.`;
  if (origin === undefined || last + 1 >= next) return undefined;
  return `the chain has become shorter: it ended at sequence ${next - 1}, and ends at ${last} now.`;
}

interface Look {
  readonly chain: ReadChain;
  readonly last: number;
  readonly records: readonly ChainRecord[];
}

async function look(folder: string, opener: FrameOpener, from: number): Promise<Look> {
  const records: ChainRecord[] = [];
  const chain = await readChain(onlyOne(await fileChains([folder])), opener, { from, onRecord: (record) => records.push(record) });
  return { chain, last: chain.verifier.lastSequence, records };
}

function onlyOne(chains: readonly ChainSource[]): ChainSource {
  const log = chains.find((chain) => chain.log !== undefined);
  const [first, ...more] = log === undefined ? chains : [log];
  if (first === undefined || more.length > 0)
    throw new UsageError(
      first === undefined ? 'There is no chain here.' : 'Several chains are here.',
      'Name the audit folder of one sidecar, or the folder with the *.seg files of one chain.',
    );
  return first;
}

/** A control link alone, and what it told. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#core/bounds/clock.ts';
import { createLog } from '#core/runtime/log.ts';
import { ControlLink, type LinkOptions } from '#sidecar/control/link.ts';
import type { OperatorMessage } from '#sidecar/control/stream.ts';
import type { StreamEnd } from '#sidecar/control/stream-end.ts';
import { eventually } from '#test/flow/controlled-stage.ts';

export interface LinkRig extends AsyncDisposable {
  readonly link: ControlLink;
  readonly ends: readonly StreamEnd[];
  readonly messages: readonly OperatorMessage[];
  readonly welcomes: number;
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  writeToken(text: string): void;
  /** Waits until a stream ended with this word. */
  ended(end: StreamEnd): Promise<void>;
}

export function startLink(
  settings: { readonly port: number; readonly pin: string; readonly host?: string },
  more: Partial<LinkOptions> = {},
): LinkRig {
  const directory = mkdtempSync(join(tmpdir(), 'postern-link-'));
  const tokenFile = join(directory, 'token');
  writeFileSync(tokenFile, 'first-token');
  const ends: StreamEnd[] = [];
  const messages: OperatorMessage[] = [];
  const lines: Record<string, unknown>[] = [];
  let welcomes = 0;
  const link = new ControlLink({
    settings: { host: '127.0.0.1', tokenFile, ...settings },
    version: '0.1.0',
    instance: `sha256:${'0'.repeat(64)}`,
    clock: systemClock,
    log: createLog({ level: 'debug', destination: { write: (line: string) => lines.push(JSON.parse(line)) } }),
    random: () => 0,
    bundleRevision: () => '',
    onWelcome: () => {
      welcomes += 1;
    },
    onMessage: (message) => messages.push(message),
    onEnd: (end) => ends.push(end),
    ...more,
  });
  link.start();
  return {
    link,
    ends,
    messages,
    lines,
    get welcomes() {
      return welcomes;
    },
    writeToken: (text) => writeFileSync(tokenFile, text),
    ended: (end) =>
      eventually(
        async () => ends.includes(end),
        () => `a stream to end with ${end}; so far ${ends.join(', ')}`,
      ),
    [Symbol.asyncDispose]: async () => {
      await link.stop();
      rmSync(directory, { recursive: true });
    },
  };
}

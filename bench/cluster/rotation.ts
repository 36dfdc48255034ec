/** Runs the measurement of rotation on a node of its own, and reads its last line. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { type Figures, figuresOf } from './figures.ts';

export async function measureRotation(rounds: number): Promise<Figures> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'rotation-on-node.ts'), String(rounds)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const last = out.trimEnd().split('\n').at(-1) ?? '';
  if (code !== 0 || !last.startsWith('{')) throw new Error(`the node ended with ${code}`);
  return figuresOf((JSON.parse(last) as { samples: number[] }).samples);
}

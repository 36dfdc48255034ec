/** What `postern call` reads before it asks: arguments, and the evidence of earlier answers. */
import { readFileSync } from 'node:fs';
import { UsageError } from './report-failure.ts';

/** The arguments as written, or all of standard input for `-`. */
export async function readArguments(written: string): Promise<Uint8Array> {
  if (written !== '-') return new TextEncoder().encode(written);
  if (process.stdin.isTTY)
    throw new UsageError(
      '"-" reads the arguments from standard input, which is a terminal',
      'Pipe a JSON object in, or write it as the argument.',
    );
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/**
 * The token itself, or a file: with the token alone, or with an answer as `postern call -o json` prints it. A name that is no file is a
 * token; whether it opens is the sidecar's to say.
 */
export function readEvidence(given: string): string {
  const text = contentOf(given);
  if (text === undefined) return given;
  if (!text.startsWith('{')) return text;
  const evidence = evidenceOf(text);
  if (evidence !== undefined) return evidence;
  throw new UsageError(
    `${given} holds no evidence`,
    'Only a complete and fresh answer gives evidence; look at why it is not complete in the file.',
  );
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    // A token is no path: far longer than a name may be, or of no file there.
    return undefined;
  }
}

function evidenceOf(text: string): string | undefined {
  try {
    const document: { readonly evidence?: unknown } = JSON.parse(text);
    return typeof document.evidence === 'string' ? document.evidence : undefined;
  } catch {
    return undefined;
  }
}

/** Small files beside the log of a chain: what must be known once the records that said it are given back. */
import { open, rename } from 'node:fs/promises';

/** The old text or the new one, after every crash; durable with the next sync of the folder. Throws what the disk says. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const file = await open(`${path}.part`, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.part`, path);
}

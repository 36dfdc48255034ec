/** What a process may have left on disk. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Paths of all regular files. */
export function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Regular files a process could write to, from /proc; nothing where there is none. */
export function writableFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  let open: string[];
  try {
    open = readdirSync(folder);
  } catch {
    return [];
  }
  return open.flatMap((fd) => {
    try {
      const path = readlinkSync(join(folder, fd));
      const flags = Number.parseInt(/^flags:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8'))?.[1] ?? '0', 8);
      return path.startsWith('/') && !path.startsWith('/dev/') && (flags & 3) !== 0 ? [path] : [];
    } catch {
      // Closed while we looked.
      return [];
    }
  });
}

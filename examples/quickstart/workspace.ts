/** The files of one run: contracts with the real port, credential files as Kubernetes would mount them, state, socket, log. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export interface Workspace extends Disposable {
  readonly directory: string;
  readonly contracts: string;
  readonly credentials: string;
  readonly logFile: string;
  /** The sidecar's own keys and its journal. */
  readonly state: string;
  /** Socket at which people decide. */
  readonly approvals: string;
  /** Sealed segments, once they are closed. */
  readonly archive: string;
  /** Key file of whoever may read them. */
  readonly identity: string;
  /** The verifier key of the sidecar's authority. */
  readonly auditKey: string;
  /** For damage, and a head that was kept elsewhere. */
  readonly copy: string;
  readonly head: string;
  /** Every file but the credential itself, with its text. */
  texts(): ReadonlyMap<string, string>;
}

export interface WorkspaceOptions {
  readonly keep: string | undefined;
  readonly port: number;
  readonly token: string;
  readonly caPem: string;
}

const PLACEHOLDER_PORT = '18443';

/** Removed at the end unless `keep` names a directory. */
export function makeWorkspace({ keep, port, token, caPem }: WorkspaceOptions): Workspace {
  const directory = keep === undefined ? mkdtempSync(join(tmpdir(), 'postern-quickstart-')) : resolve(keep);
  const contracts = join(directory, 'contracts');
  const credentials = join(directory, 'credentials');
  const secret = join(credentials, 'postern-inventory');
  const audit = join(directory, 'audit');
  mkdirSync(secret, { recursive: true, mode: 0o700 });
  mkdirSync(audit, { recursive: true, mode: 0o700 });
  cpSync(join(import.meta.dirname, 'contracts'), contracts, { recursive: true });
  for (const file of readdirSync(contracts)) {
    const path = join(contracts, file);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(PLACEHOLDER_PORT, String(port)));
  }
  writeFileSync(join(secret, 'token'), token, { mode: 0o600 });
  writeFileSync(join(secret, 'ca.crt'), caPem);
  return {
    directory,
    contracts,
    credentials,
    logFile: join(directory, 'sidecar.log'),
    state: join(directory, 'state'),
    approvals: join(directory, 'approvals.sock'),
    archive: join(audit, 'archive'),
    identity: join(audit, 'auditor.key'),
    auditKey: join(directory, 'state', 'audit-key.pub'),
    copy: join(audit, 'copy'),
    head: join(audit, 'head.note'),
    texts: () => textsBelow(directory),
    [Symbol.dispose]: () => {
      if (keep === undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}

function textsBelow(directory: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name === 'token') continue;
    const path = join(entry.parentPath, entry.name);
    texts.set(path, readFileSync(path, 'utf8'));
  }
  return texts;
}

/**
 * A Python with grpcio, for a client in another language: `POSTERN_PYTHON` where it is set (.ci/run sets it), else a
 * virtual environment in the user's cache, made once from .ci/requirements.txt (the one .ci/run uses too).
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { acquireLock } from '#test/servers/lock.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../..');

/** Path of the interpreter, or why there is none; with `CI` set a missing one is an error, so that no test vanishes. */
export async function findPython(): Promise<{ readonly python: string } | { readonly missing: string }> {
  try {
    const given = process.env.POSTERN_PYTHON;
    return { python: given === undefined || given === '' ? await environment() : given };
  } catch (error) {
    if (process.env.CI) throw error;
    return { missing: `no Python with grpcio: ${error instanceof Error ? error.message.split('\n', 1)[0] : 'unknown'}` };
  }
}

/** Generates the Python code of the API into `into`. */
export async function generatePython(python: string, into: string): Promise<void> {
  await mkdir(into, { recursive: true });
  const includes = ['proto', 'node_modules/google-proto-files'].map((folder) => `-I${join(ROOT, folder)}`);
  const files = ['postern/v1/action.proto', 'postern/v1/completeness.proto', 'google/rpc/status.proto', 'google/rpc/error_details.proto'];
  await run(python, ['-m', 'grpc_tools.protoc', ...includes, `--python_out=${into}`, `--grpc_python_out=${into}`, ...files]);
}

/** One call; the JSON that call.py prints. */
export async function callFromPython(
  python: string,
  generated: string,
  address: string,
  method: string,
  request: object,
): Promise<unknown> {
  const { stdout } = await run(python, [join(import.meta.dirname, 'call.py'), generated, address, method, JSON.stringify(request)], {
    env: { PATH: process.env.PATH },
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(stdout);
}

async function environment(): Promise<string> {
  const requirements = join(ROOT, '.ci/requirements.txt');
  const digest = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 16);
  const home = join(homedir(), '.cache/postern/ci', `python-${digest}`);
  const python = join(home, 'bin/python');
  const complete = join(home, 'complete');
  await mkdir(dirname(home), { recursive: true });
  await using _lock = await acquireLock(`${home}.lock`, () => {});
  if (await exists(complete)) return python;
  await rm(home, { recursive: true, force: true });
  await run('python3', ['-m', 'venv', home]);
  await run(python, ['-m', 'pip', 'install', '--quiet', '--only-binary', ':all:', '-r', requirements]);
  await writeFile(complete, '');
  return python;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

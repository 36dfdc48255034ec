/** A real S3 server (SeaweedFS) for tests, with one access key that may do everything. */
import { createHash, createHmac, type Hash, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SignatureV4 } from '@smithy/signature-v4';
import { request } from 'undici';
import { programPath } from './build.ts';
import { answers, freePorts, loopback, startIn } from './process.ts';

const region = 'us-east-1';

// The endpoint's own first. Left alone, each gRPC port would be the HTTP port plus 10000, unchecked.
const parts = ['s3', 'master', 'volume', 'filer'] as const;
const portFlags = parts.flatMap((part) => [`-${part}.port`, `-${part}.port.grpc`]);

export interface S3Request {
  readonly method: string;
  /** Path style, decoded: `/bucket` or `/bucket/some key`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface S3Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** UTF-8 text; XML for everything but objects. */
  readonly body: string;
}

export interface Seaweedfs extends AsyncDisposable {
  /** `http://ADDRESS:PORT`, without a trailing slash; path style only. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  createBucket(name: string): Promise<void>;
  putObject(bucket: string, key: string, body: string | Uint8Array): Promise<void>;
  /** Any other signed call; resolves for every status. */
  send(request: S3Request): Promise<S3Answer>;
  /** Ends the server as a crash would; its data stay. */
  stop(): Promise<void>;
  /** Again, on the same address. */
  start(): Promise<void>;
  logTail(): string;
}

/** `address`: where it listens, of this machine; pods of a test node reach that of the node. */
export function startSeaweedfs({ address = loopback }: { readonly address?: string } = {}): Promise<Seaweedfs> {
  return startIn('seaweedfs', async (place) => {
    const accessKeyId = randomBytes(10).toString('hex').toUpperCase();
    const secretAccessKey = randomBytes(20).toString('hex');
    const configFile = join(place.folder, 's3.json');
    await writeFile(configFile, s3Config(accessKeyId, secretAccessKey), { mode: 0o600 });
    const data = join(place.folder, 'data');
    await mkdir(data);
    const ports = await freePorts(portFlags.length);
    const endpoint = `http://${address}:${ports[0]}`;
    const launch = {
      program: await programPath('weed'),
      args: ['server', ...flags({ address, data, ports, configFile, folder: place.folder })],
      strays: strays(ports),
      ready: () => answers(`${endpoint}/healthz`),
    };
    let running = await place.launch(launch);
    const send = sender(endpoint, { accessKeyId, secretAccessKey });
    await warmUp(send);
    return {
      endpoint,
      region,
      accessKeyId,
      secretAccessKey,
      send,
      createBucket: (name) => expectOk(send({ method: 'PUT', path: `/${name}` })),
      putObject: (bucket, key, body) => expectOk(send({ method: 'PUT', path: `/${bucket}/${key}`, body })),
      stop: () => running.kill(),
      start: async () => {
        running = await place.launch(launch);
      },
      logTail: place.logTail,
      [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
    };
  });
}

interface Layout {
  readonly address: string;
  readonly data: string;
  readonly ports: readonly number[];
  readonly configFile: string;
  readonly folder: string;
}

function flags({ address, data, ports, configFile, folder }: Layout): string[] {
  return [
    `-ip=${address}`,
    `-ip.bind=${address}`,
    `-dir=${data}`,
    '-s3',
    `-s3.config=${configFile}`,
    '-s3.port.iceberg=0',
    '-s3.port.lance=0',
    // Its default reports usage to the maker.
    '-master.telemetry=false',
    '-master.volumeSizeLimitMB=64',
    `-s3.localSocket=${join(folder, 's3.sock')}`,
    `-filer.localSocket=${join(folder, 'filer.sock')}`,
    ...portFlags.map((flag, at) => `${flag}=${ports[at]}`),
  ];
}

// It lays these sockets there whatever it is told, one a gRPC port.
function strays(ports: readonly number[]): string[] {
  return parts.map((part, at) => `/tmp/seaweedfs-${part}-grpc-${ports[2 * at + 1]}.sock`);
}

// The first write waits up to 9 s for an internal lock service to form; no test should measure that.
async function warmUp(send: Seaweedfs['send']): Promise<void> {
  const bucket = '/warm-up';
  await expectOk(send({ method: 'PUT', path: bucket }));
  await expectOk(send({ method: 'PUT', path: `${bucket}/object`, body: '.' }));
  await expectOk(send({ method: 'DELETE', path: `${bucket}/object` }));
  await expectOk(send({ method: 'DELETE', path: bucket }));
}

function s3Config(accessKey: string, secretKey: string): string {
  return JSON.stringify({
    identities: [{ name: 'admin', credentials: [{ accessKey, secretKey }], actions: ['Admin'] }],
  });
}

type Credentials = Pick<Seaweedfs, 'accessKeyId' | 'secretAccessKey'>;

function sender(endpoint: string, credentials: Credentials): Seaweedfs['send'] {
  const { hostname, host, port } = new URL(endpoint);
  const signer = new SignatureV4({ credentials, region, service: 's3', sha256: Sha256, uriEscapePath: false });
  return async ({ method, path, query = {}, headers = {}, body }) => {
    const signed = await signer.sign({
      method,
      protocol: 'http:',
      hostname,
      port: Number(port),
      // S3 signs the path escaped once, as it is sent.
      path: path.split('/').map(encodeRfc3986).join('/'),
      query: { ...query },
      headers: { host, ...headers },
      body: body ?? '',
    });
    const search = Object.entries(query).map((pair) => pair.map(encodeRfc3986).join('='));
    const url = `${endpoint}${signed.path}${search.length > 0 ? `?${search.join('&')}` : ''}`;
    const response = await request(url, {
      method: method as 'GET',
      headers: signed.headers,
      body: body ?? null,
    });
    return { status: response.statusCode, headers: response.headers, body: await response.body.text() };
  };
}

async function expectOk(answer: Promise<S3Answer>): Promise<void> {
  const { status, body } = await answer;
  if (status !== 200 && status !== 204) throw new Error(`S3 answers ${status}: ${body}`);
}

function encodeRfc3986(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** SHA-256, keyed when given a secret: the shape the signer wants of its hash. */
class Sha256 {
  readonly #secret: string | Uint8Array | undefined;
  #hash: Hash;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#secret = secret === undefined || typeof secret === 'string' ? secret : bytes(secret);
    this.#hash = this.#fresh();
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(typeof data === 'string' ? data : bytes(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#fresh();
  }

  // A keyed hash offers the same two functions; the common type is the plain one.
  #fresh(): Hash {
    if (this.#secret === undefined) return createHash('sha256');
    return createHmac('sha256', this.#secret) as unknown as Hash;
  }
}

function bytes(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
}

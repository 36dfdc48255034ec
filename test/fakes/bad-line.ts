/** A bad line to a real server: slow, cut once the server has answered, or dead. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';

export interface BadLine extends AsyncDisposable {
  readonly endpoint: string;
  /** What the client sends passes in chunks of so many bytes, one a millisecond; 0: as it comes. */
  chunkBytes: number;
  /** The next answers that begin with this are swallowed, and the connection ends. */
  cuts: { readonly answer: string; times: number };
  dead: boolean;
}

export async function startBadLine(to: string): Promise<BadLine> {
  const { hostname, port } = new URL(to);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      socket.on('error', () => {});
    }
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    if (line.dead) return end();
    client.once('close', end);
    upstream.once('close', end);
    client.pipe(slow(line)).pipe(upstream);
    upstream.on('data', (chunk: Buffer) => {
      if (line.cuts.times > 0 && chunk.toString('latin1').startsWith(line.cuts.answer)) {
        line.cuts.times -= 1;
        end();
      } else if (!client.destroyed) client.write(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const line: BadLine = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    chunkBytes: 0,
    cuts: { answer: '', times: 0 },
    dead: false,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return line;
}

function slow(line: BadLine): Transform {
  return new Transform({
    async transform(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length; ) {
        const size = line.chunkBytes || chunk.length;
        this.push(chunk.subarray(at, at + size));
        at += size;
        if (at < chunk.length) await new Promise((resolve) => setTimeout(resolve, 1));
      }
      done();
    },
  });
}

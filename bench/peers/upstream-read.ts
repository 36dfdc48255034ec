/** The read every Node peer makes: the bytes of one item page, over a pool of kept connections. */
import { Pool } from 'undici';

const CONNECTIONS = 64;

/** Rejects when the answer is not 200. */
export function upstreamRead(origin: string, token: string): (id: string) => Promise<Buffer> {
  const pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 });
  const headers = { authorization: `Bearer ${token}` };
  return async (id) => {
    const { statusCode, body } = await pool.request({ method: 'GET', path: `/items/${encodeURIComponent(id)}`, headers });
    const bytes = Buffer.from(await body.arrayBuffer());
    if (statusCode !== 200) throw new Error(`the upstream answered ${statusCode}`);
    return bytes;
  };
}

/** `mcp-sdk.cjs PORT ORIGIN TOKEN`: the same job in the MCP TypeScript SDK: one tool, streamable HTTP, a session per agent. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import { upstreamRead } from './upstream-read.ts';

const [port, origin = '', token = ''] = process.argv.slice(2);
const read = upstreamRead(origin, token);
const sessions = new Map<string, StreamableHTTPServerTransport>();

function newServer(): McpServer {
  const server = new McpServer({ name: 'bench', version: '1.0.0' });
  server.registerTool('get_items', { description: 'Read the items of a shelf', inputSchema: { id: z.string() } }, async ({ id }) => ({
    content: [{ type: 'text', text: (await read(id)).toString('utf8') }],
  }));
  return server;
}

async function transportOf(request: IncomingMessage): Promise<StreamableHTTPServerTransport> {
  const known = sessions.get(String(request.headers['mcp-session-id']));
  if (known !== undefined) return known;
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await newServer().connect(transport as Parameters<McpServer['connect']>[0]);
  return transport;
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body: unknown = chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString('utf8'));
  await (await transportOf(request)).handleRequest(request, response, body);
}

createServer((request, response) => {
  handle(request, response).catch(() => response.destroy());
}).listen(Number(port), '127.0.0.1');

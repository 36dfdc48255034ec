/**
 * Upstreams that know the credential and send it back in every way they can think of. `shapeNames` is what a caller may ask for;
 * the path is `/BINDING/DECODER/SHAPE`.
 */
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

/** One secret as an upstream may write it (failure case LEAK-05). */
export function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const base64 = ['', 'x', 'xy'].map((before) => Buffer.concat([Buffer.from(before), bytes, Buffer.from('yy')]).toString('base64'));
  const hex = bytes.toString('hex');
  const each = (write: (code: string) => string) => Array.from(bytes, (byte) => write(byte.toString(16).padStart(2, '0'))).join('');
  return [
    secret,
    `Bearer ${secret}`,
    `user:${secret}`,
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    hex,
    hex.toUpperCase(),
    encodeURIComponent(secret),
    encodeURIComponent(encodeURIComponent(secret)),
    each((code) => `%${code}`),
    new URLSearchParams({ s: secret }).toString(),
    each((code) => `\\u00${code}`),
    JSON.stringify(secret).replaceAll('/', '\\/'),
    each((code) => `&#x${code};`),
    secret.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('+', '&#43;'),
    secret + secret,
    Array.from(secret).toReversed().join('') + secret,
  ];
}

type Send = (response: ServerResponse, echo: Echo) => void;

interface Echo {
  readonly decoder: string;
  readonly forms: readonly string[];
  readonly secrets: readonly string[];
  /** Whether the request carries a cursor. */
  readonly later: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  xml: 'application/xml',
  ndjson: 'application/x-ndjson',
  lines: 'text/plain',
};

function bodyOf({ decoder, forms, secrets }: Echo): string {
  const rows = forms.map((seen, id) => ({ id: `row-${id}`, seen, [seen]: id }));
  switch (decoder) {
    case 'xml':
      return `<?xml version="1.0"?><list><!-- ${forms[0]?.replaceAll('-', '')} -->${rows.map(({ id, seen }) => `<row mark="${xml(seen)}"><id>${id}</id><seen>${xml(seen)}</seen></row>`).join('')}${secrets.map((secret, index) => `<row><id>cd-${index}</id><seen>${split(secret)}</seen></row>`).join('')}</list>`;
    case 'ndjson':
      return `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`;
    case 'lines':
      return `${forms.join('\n')}\n`;
    default: {
      // Escapes of the JSON text itself, which come apart only when it is decoded.
      const written = secrets.map((secret) => Array.from(secret, (char) => `\\u00${char.charCodeAt(0).toString(16)}`).join(''));
      return `{"items":[${[...rows.map((row) => JSON.stringify(row)), ...written.map((text, id) => `{"id":"esc-${id}","seen":"${text}"}`)].join(',')}],"next":null,"snapshot":"s"}`;
    }
  }
}

/** Half as text, half in a section: whole only once decoded. */
function split(secret: string): string {
  const half = Math.floor(secret.length / 2);
  return `${xml(secret.slice(0, half))}<![CDATA[${secret.slice(half)}]]>`;
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function reply(response: ServerResponse, echo: Echo, status: number, headers: Record<string, string | string[]> = {}): void {
  const body = Buffer.from(bodyOf(echo));
  response.writeHead(status, { 'content-type': TYPES[echo.decoder] ?? '', 'content-length': body.length, ...headers });
  response.end(body);
}

function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** What a header can carry of the forms. */
function headersOf({ forms, secrets }: Echo): Record<string, string | string[]> {
  const links = secrets.map((secret) => `</next?after=${encodeURIComponent(secret)}>; rel="next"`);
  return { 'x-echo': [...forms], etag: `"${secrets[0]}"`, link: links, [`x-${Buffer.from(secrets[0] ?? '').toString('hex')}`]: 'name' };
}

const SHAPES: Readonly<Record<string, Send>> = {
  plain: (response, echo) => reply(response, echo, 200),
  headers: (response, echo) => reply(response, echo, 200, headersOf(echo)),
  gzip: (response, echo) => {
    response.writeHead(200, { 'content-type': TYPES[echo.decoder], 'content-encoding': 'gzip' });
    response.end(gzipSync(bodyOf(echo)));
  },
  chunks: async (response, echo) => {
    response.writeHead(200, { 'content-type': TYPES[echo.decoder] });
    const body = Buffer.from(bodyOf(echo));
    for (let at = 0; at < body.length; at += 11) {
      response.write(body.subarray(at, at + 11));
      if (at % 121 === 0) await new Promise(setImmediate);
    }
    response.end();
  },
  cut: (response, echo) => {
    response.writeHead(200, { 'content-type': TYPES[echo.decoder], 'content-length': 1_000_000 });
    response.write(bodyOf(echo), () => response.destroy());
  },
  broken: (response, echo) => {
    response.writeHead(200, { 'content-type': TYPES[echo.decoder] });
    response.end(`{"items": [ <${echo.forms.join(' <')}`);
  },
  foreign: (response, echo) => {
    response.writeHead(200, { 'content-type': `text/html; mark="${echo.secrets[0]?.replaceAll('"', '')}"` });
    response.end(`<html>${echo.forms.join('<br>')}</html>`);
  },
  redirect: (response, echo) => reply(response, echo, 302, { location: `/elsewhere?key=${encodeURIComponent(echo.secrets[0] ?? '')}` }),
  limited: (response, echo) => reply(response, echo, 429, { ...headersOf(echo), 'retry-after': echo.secrets[0] ?? '' }),
  cursor: (response, { secrets, later }) =>
    json(response, { items: [{ id: later ? 'b' : 'a' }], next: later ? null : secrets[0], snapshot: secrets.join(' ') }),
  loop: (response, { secrets }) => json(response, { items: [{ id: secrets[0] }], next: secrets[0], snapshot: secrets[0] }),
  // The way on and the snapshot are told by headers alone.
  linked: (response, echo) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headersOf(echo) });
    response.end(JSON.stringify({ items: [{ id: echo.later ? 'b' : 'a' }], snapshot: 's' }));
  },
  notes: (response, { forms }) =>
    json(response, { items: [{ id: forms[0] }], next: null, snapshot: 's', notes: forms.map((form) => `note ${form}`), age: forms[0] }),
  unknown: (response, { forms }) => json(response, { items: [], next: null, snapshot: 's', notes: [...forms], total: forms[0] }),
  ...Object.fromEntries(
    [400, 401, 403, 404, 410, 418, 500, 503].map((status): [string, Send] => [
      `status${status}`,
      (response, echo) => {
        response.statusMessage = echo.secrets[0] ?? '';
        reply(response, echo, status, headersOf(echo));
      },
    ]),
  ),
};

export const shapeNames: readonly string[] = Object.keys(SHAPES);

export function sendShape(response: ServerResponse, shape: string, echo: Echo): void {
  SHAPES[shape]?.(response, echo);
}

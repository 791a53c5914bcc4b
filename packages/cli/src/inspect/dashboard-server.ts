import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { dashboardFile } from '@riata/dashboard';
import { describeError } from 'riata/runtime';
import { CommandError } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import { forwardedRequest } from './forwarded-request.js';
import type { OperatorLink } from './operator-link.js';

/** Where requests for `/debug` go. */
export interface LinkSource {
  /** Opens the link, or gives the one that is open. */
  get(): Promise<OperatorLink>;
  /** Called after a failed request: the next one opens a new link. */
  drop(link: OperatorLink): Promise<void>;
}

/** A dashboard on this machine. */
export interface LocalDashboard extends AsyncDisposable {
  /** With the key that lets the browser in. */
  readonly url: string;
}

const passedOn = ['accept', 'content-type', 'x-riata-action', 'sec-fetch-site'] as const;
const mostBody = 65_536;

/**
 * Serves the dashboard's own files, and the operator's pages below `/debug` with the viewer's token. It listens on loopback,
 * and lets in the browser that was opened with its address alone: others on this machine would act as the viewer.
 */
export async function serveDashboard(
  io: Pick<CommandIo, 'runtime' | 'signal'>,
  { port, links }: { readonly port: number; readonly links: LinkSource },
): Promise<LocalDashboard> {
  const { random } = io.runtime;
  const key = `${random.uuid()}${random.uuid()}`;
  const server = createServer((request, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    answer(request, response, { key, links, port: local(), signal: gone.signal }).catch((error: unknown) => {
      if (gone.signal.aborted) return;
      send(response, 502, JSON.stringify({ message: describeError(error) }), 'application/json');
    });
  });
  const local = () => {
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  };
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const remedy = error.code === 'EADDRINUSE' ? '; give another one with --port' : '';
      reject(new CommandError(`cannot listen on 127.0.0.1:${port}: ${error.message}${remedy}`, { cause: error }));
    });
    server.listen({ host: '127.0.0.1', port }, resolve);
  });
  return {
    url: `http://127.0.0.1:${local()}/?key=${key}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

interface Parts {
  readonly key: string;
  readonly links: LinkSource;
  readonly port: number;
  readonly signal: AbortSignal;
}

async function answer(request: IncomingMessage, response: ServerResponse, parts: Parts): Promise<void> {
  const { key, port } = parts;
  const { host = '', cookie = '' } = request.headers;
  // A page of another site whose name leads to 127.0.0.1 would read everything otherwise.
  if (![`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`].includes(host)) {
    return send(response, 421, 'expects localhost or a loopback address in the header Host\n');
  }
  const url = new URL(request.url ?? '/', 'http://localhost');
  const name = `riata-dashboard-${port}`;
  if (request.method === 'GET' && url.searchParams.get('key') === key) {
    const headers = { location: '/', 'set-cookie': `${name}=${key}; Path=/; HttpOnly; SameSite=Strict` };
    return send(response, 303, '', undefined, headers);
  }
  if (!cookie.split(/;\s*/).includes(`${name}=${key}`)) {
    return send(response, 401, 'open the address that "riata dashboard" printed, with its key\n');
  }
  if (url.pathname.startsWith('/debug/')) return passOn(request, response, url, parts);
  if (request.method !== 'GET' && request.method !== 'HEAD') return send(response, 405, 'method not allowed\n');
  const { status = 200, contentType, headers, body } = await dashboardFile(url.pathname);
  send(response, status, request.method === 'HEAD' ? '' : body, contentType, headers);
}

async function passOn(request: IncomingMessage, response: ServerResponse, url: URL, parts: Parts): Promise<void> {
  const { links, signal } = parts;
  const method = request.method ?? 'GET';
  const isAction = method !== 'GET' && method !== 'HEAD';
  const body = isAction ? await bodyOf(request) : undefined;
  if (isAction && body === undefined) return send(response, 413, 'the body is too large\n');
  const link = await links.get();
  if (isAction && link.actRefusal !== undefined) {
    const message = `actions need a token of your own: ${link.actRefusal}`;
    return send(response, 403, JSON.stringify({ message }), 'application/json');
  }
  const headers: Record<string, string> = {};
  for (const each of passedOn) {
    const value = request.headers[each];
    if (typeof value === 'string') headers[each] = value;
  }
  if (link.token !== undefined) headers.authorization = `Bearer ${link.token}`;
  let passed: IncomingMessage;
  try {
    const asked = { method, headers, signal, ...(body !== undefined && { body }) };
    passed = await forwardedRequest(`${link.url}${url.pathname}${url.search}`, asked);
  } catch (error) {
    if (signal.aborted) return;
    await links.drop(link);
    throw new Error(`Pod ${link.pod}: ${link.problem() ?? describeError(error)}`, { cause: error });
  }
  response.writeHead(passed.statusCode ?? 502, {
    'content-type': passed.headers['content-type'] ?? 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  // Not pipe alone: a stream that breaks off must break off here, too, so that the page connects again.
  passed.on('error', () => response.destroy());
  passed.on('close', () => {
    if (!passed.complete) response.destroy();
  });
  passed.pipe(response);
}

/** Undefined if it is too large. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  let text = '';
  for await (const part of request.setEncoding('utf8')) {
    text += part;
    if (text.length > mostBody) return undefined;
  }
  return text;
}

function send(
  response: ServerResponse,
  status: number,
  body: string | Uint8Array,
  contentType = 'text/plain; charset=utf-8',
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': contentType, 'x-content-type-options': 'nosniff', ...headers });
  response.end(body);
}

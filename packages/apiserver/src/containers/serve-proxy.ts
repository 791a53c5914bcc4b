import { Buffer } from 'node:buffer';
import { posix } from 'node:path';
import { describeError } from 'riata/runtime';
import type { Reply } from '../http/reply.js';
import type { ServerRequest } from '../http/server-request.js';
import type { ContainerRuntime } from './container-runtime.js';
import { type ProxyTarget, unavailable } from './proxy-target.js';

/** Answers a request over HTTP by itself. */
export type Respond = (request: ServerRequest, reply: Reply) => Promise<void>;

/** Headers that are about one connection alone, or that the server keeps for itself. */
const kept: ReadonlySet<string> = new Set([
  ...['connection', 'proxy-connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'host', 'authorization', 'expect'],
]);

/**
 * Hands a request on to what runs in a Pod or on a Node, and its answer back as it comes (`UpgradeAwareHandler`). `path`
 * is the decoded path behind the subresource. Throws 503 if nothing answers.
 */
export function serveProxy(runtime: ContainerRuntime, target: ProxyTarget, path: string): Respond {
  return async (request, reply) => {
    const [own = '', query] = splitOnce(request.path);
    if (path === '' && (request.method === 'GET' || request.method === 'HEAD')) {
      reply.head(301, { location: `${own}/${query === '' ? '' : `?${query}`}`, 'content-length': '0' });
      reply.end();
      return;
    }
    const clean = posix.normalize(`/${path}`);
    const host = 'pod' in target ? target.address : target.node.metadata.name;
    const authority = `${host.includes(':') ? `[${host}]` : host}${target.port === '' ? '' : `:${target.port}`}`;
    const uri = encodeURI(clean).replace(/[?#]/g, encodeURIComponent);
    const url = `${target.scheme}://${authority}${uri}${query === '' ? '' : `?${query}`}`;
    const prefix = own.slice(0, own.length - encodedLength(own, path));
    let response: Response;
    try {
      response = await answerOf(runtime, target, requestOf(request, url, `${prefix}${uri}`));
    } catch (error) {
      throw unavailable(`error trying to reach service: ${describeError(error)}`);
    }
    await pass(response, { authority, prefix: prefix.replace(/\/$/, '') }, reply);
  };
}

async function answerOf(runtime: ContainerRuntime, target: ProxyTarget, request: Request): Promise<Response> {
  const { http, nodeHttp } = runtime;
  const usual = target.scheme === 'https' ? 443 : 80;
  if ('pod' in target) {
    const port = target.port === '' ? usual : Number(target.port);
    if (!Number.isInteger(port)) throw new Error(`dial tcp: lookup tcp/${target.port}: unknown port`);
    if (http === undefined) throw new Error(`dial tcp ${target.address}:${port}: connect: connection refused`);
    return await http(target.pod, port, request);
  }
  const port = target.port === '' ? 10_250 : Number(target.port);
  if (nodeHttp === undefined) throw new Error(`dial tcp: ${target.node.metadata.name}:${port}: connection refused`);
  return await nodeHttp(target.node, port, request);
}

function requestOf(request: ServerRequest, url: string, forwardedUri: string): Request {
  const { method, body, bodyStream, signal } = request;
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || kept.has(name) || name.startsWith('impersonate-')) continue;
    headers.set(name, value);
  }
  headers.set('x-forwarded-uri', forwardedUri);
  if (request.headers.host !== undefined) headers.set('x-forwarded-host', request.headers.host);
  if (request.remoteAddress !== undefined) headers.set('x-forwarded-for', request.remoteAddress);
  const hasBody = method !== 'GET' && method !== 'HEAD' && (bodyStream !== undefined || body.length > 0);
  const sent = bodyStream === undefined ? body : streamOf(bodyStream, signal);
  const init = { method, headers, signal, ...(hasBody && { body: sent, duplex: 'half' }) };
  return new Request(url, init as RequestInit);
}

/** Ends when the client has gone: a reader that is slow to notice gets no more. */
function streamOf(source: AsyncIterable<Uint8Array>, signal: AbortSignal): ReadableStream<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await iterator.next();
        if (signal.aborted) {
          controller.error(signal.reason);
          await iterator.return?.();
        } else if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => void (await iterator.return?.()),
    },
    { highWaterMark: 0 },
  );
}

async function pass(
  response: Response,
  { authority, prefix }: { readonly authority: string; readonly prefix: string },
  reply: Reply,
): Promise<void> {
  const headers: Record<string, string | readonly string[]> = {};
  for (const [name, value] of response.headers) if (!kept.has(name) && name !== 'set-cookie') headers[name] = value;
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) headers['set-cookie'] = cookies;
  if (typeof headers.location === 'string') headers.location = relocated(headers.location, authority, prefix);
  reply.head(response.status, headers);
  try {
    for await (const piece of response.body ?? []) {
      if (reply.ended) return;
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : Uint8Array.from(piece as Uint8Array);
      if (!reply.write(bytes)) await reply.drained();
    }
    reply.end();
  } catch {
    // The head is gone: the client notices by an answer that breaks off.
    reply.abort();
  }
}

/** A redirect to the target itself leads through the proxy. */
function relocated(location: string, authority: string, prefix: string): string {
  if (location.startsWith('/') && !location.startsWith('//')) return `${prefix}${location}`;
  const match = /^https?:\/\/([^/?#]+)(.*)$/i.exec(location);
  return match !== null && match[1] === authority ? `${prefix}${match[2]}` : location;
}

/** How long a decoded path is within the path that was sent. */
function encodedLength(own: string, path: string): number {
  for (let at = own.length; at >= 0; at--) {
    try {
      if (decodeURIComponent(own.slice(at)) === path) return own.length - at;
    } catch {
      // In the middle of an escape.
    }
  }
  return 0;
}

function splitOnce(path: string): readonly [string, string] {
  const at = path.indexOf('?');
  return at < 0 ? [path, ''] : [path.slice(0, at), path.slice(at + 1)];
}

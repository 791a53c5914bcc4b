import { Buffer } from 'node:buffer';
import type { Duplex } from 'node:stream';
import { link, systemClock } from 'riata/runtime';
import type { UserInfo } from '../authentication/user-info.js';
import { type Reply, sendBytes } from '../http/reply.js';
import type { ServerRequest } from '../http/server-request.js';
import type { OutgoingResponse, Upgraded } from '../webhook-client/outgoing-requests.js';
import { answerHeaders, proxyHeaders } from './proxy-headers.js';
import type { RemoteRequests } from './remote-requests.js';
import type { RemoteService } from './remote-service.js';

const discoveryTimeoutMs = 5_000;

/** Hands a request on to an aggregated API server, and its answer back as it comes (`proxyHandler`). */
export async function proxyRequest(
  requests: RemoteRequests,
  remote: RemoteService | undefined,
  user: UserInfo,
  request: ServerRequest,
  reply: Reply,
): Promise<void> {
  if (remote === undefined || !remote.available) return sendProblem(reply, 503, 'service unavailable');
  const late = new AbortController();
  // Clients ask for discovery all the time: they are not kept waiting.
  const timer = isDiscovery(request.path)
    ? systemClock.after(discoveryTimeoutMs, () => late.abort(new Error('context deadline exceeded')), {
        background: true,
      })
    : undefined;
  using scope = link(request.signal, late.signal);
  try {
    const { method, path, body } = request;
    const headers = { ...proxyHeaders(request.headers, user), ...upgradeHeaders(request) };
    const sent = { method, path, headers, signal: scope.signal, ...(body.length === 0 ? {} : { body }) };
    const response = await requests.send(remote, sent);
    const { upgraded } = response;
    if (upgraded !== undefined && request.upgrade !== undefined) await join(upgraded, request.upgrade());
    else await pass(response, reply, scope.signal);
  } catch (error) {
    if (request.signal.aborted || reply.started) return reply.abort();
    sendProblem(reply, 503, error instanceof Error ? error.message : String(error));
  } finally {
    timer?.cancel();
  }
}

/** What asks for another protocol, where the connection of the client can be taken over. */
function upgradeHeaders({ headers, upgrade }: ServerRequest): Readonly<Record<string, string>> {
  const { upgrade: protocol } = headers;
  return upgrade === undefined || protocol === undefined ? {} : { connection: 'Upgrade', upgrade: protocol };
}

/** Hands all bytes on in both directions, until one side ends. */
function join({ head, socket }: Upgraded, client: Duplex): Promise<void> {
  client.write(head, 'latin1');
  return new Promise((resolve) => {
    const end = () => {
      client.destroy();
      socket.destroy();
      resolve();
    };
    for (const side of [client, socket]) side.once('close', end).once('error', end);
    socket.pipe(client);
    client.pipe(socket);
  });
}

async function pass(response: OutgoingResponse, reply: Reply, signal: AbortSignal): Promise<void> {
  const { status, headers, body } = response;
  if (status >= 300 && status <= 399 && headers.location !== undefined) {
    const message = 'the backend attempted to redirect this request, which is not permitted';
    sendBytes(reply, 502, { 'content-type': 'text/plain; charset=utf-8' }, Buffer.from(message));
    return;
  }
  reply.head(status, answerHeaders(headers));
  for await (const piece of body) {
    if (reply.ended || signal.aborted) return;
    if (!reply.write(piece)) await reply.drained();
  }
  reply.end();
}

/** As Go's `http.Error`. */
function sendProblem(reply: Reply, code: number, message: string): void {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
  sendBytes(reply, code, headers, Buffer.from(`${message}\n`));
}

function isDiscovery(path: string): boolean {
  const [plain = ''] = path.split('?');
  return plain.replace(/^\/+|\/+$/g, '').split('/').length === 3;
}

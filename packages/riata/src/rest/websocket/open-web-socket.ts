import { webSocketAccept, webSocketKey } from '../../runtime/websocket/handshake.js';
import { WebSocketError, type WebSocketEvents, WebSocketLink } from '../../runtime/websocket/web-socket.js';
import type { HeldResponse } from '../chain/held-response.js';
import { TransportError } from '../errors/transport-error.js';
import { headerValue } from '../request/header-values.js';
import type { RequestSender } from '../request/request-sender.js';
import type { RequestSpec } from '../request/request-spec.js';

/** A WebSocket that the server has accepted and nobody reads yet. */
export interface OpenWebSocket {
  /** The subprotocol that the server has chosen. */
  readonly protocol: string;
  /** Method and URL without its query, for messages. */
  readonly origin: string;
  /** Starts reading: exactly once. */
  start(events: WebSocketEvents): WebSocketLink;
}

/**
 * Opens a WebSocket by a request like any other: through the chain (credentials, retries before an answer, refusals as
 * `ApiError`), and over the client's transport. Rejects with a `TransportError` if the server answers without
 * switching, or chooses none of `protocols`. Aborting the request's signal ends the WebSocket.
 */
export async function openWebSocket(
  sender: RequestSender,
  spec: RequestSpec,
  protocols: readonly string[],
): Promise<OpenWebSocket> {
  const key = webSocketKey();
  const headers = {
    ...spec.headers,
    'sec-websocket-key': key,
    'sec-websocket-version': '13',
    'sec-websocket-protocol': protocols.join(', '),
  };
  const response = await sender.open({ ...spec, headers, upgrade: 'websocket', idleTimeoutMs: 0 });
  const origin = `${spec.method} ${sender.urlOf(spec).split('?', 1)[0]}`;
  const protocol = headerValue(response.headers, 'sec-websocket-protocol');
  const problem = problemOf(response, key, protocol, protocols);
  if (problem !== undefined) {
    const error = new TransportError(`${origin}: ${problem}`, { kind: 'protocol', requestSent: true });
    response.discard();
    response.abort(error);
    throw error;
  }
  return { protocol, origin, start: (events) => linkOver(response, events, sender, origin) };
}

function linkOver(response: HeldResponse, events: WebSocketEvents, sender: RequestSender, origin: string) {
  const port = {
    write: (bytes: Uint8Array) => response.write(bytes),
    end: () => response.endWriting(),
    pause: () => response.pause(),
    resume: () => response.resume(),
    destroy: () => response.abort(closed),
  };
  const named: WebSocketEvents = {
    onPiece: (piece, at) => events.onPiece(piece, at),
    onDrain: () => events.onDrain(),
    onEnd: (end) => events.onEnd('error' in end ? { error: explained(end.error, origin) } : end),
  };
  const link = new WebSocketLink(port, named, { role: 'client', clock: sender.clock });
  response.deliver({
    onData: (chunk) => link.received(chunk),
    onEnd: () => link.ended(),
    onError: (error) => link.failed(error),
    onDrain: () => link.drained(),
  });
  return link;
}

const closed = new Error('the WebSocket was closed');

/** Failures of the WebSocket itself are failures of the connection, and say of which. */
function explained(error: unknown, origin: string): unknown {
  if (!(error instanceof WebSocketError)) return error;
  return new TransportError(`${origin}: ${error.message}`, { kind: 'eof', requestSent: true, cause: error });
}

function problemOf(
  { status, headers }: HeldResponse,
  key: string,
  protocol: string,
  protocols: readonly string[],
): string | undefined {
  if (status !== 101) {
    return `the server answered ${status} instead of switching to WebSocket; a proxy on the way may not support it`;
  }
  if (headerValue(headers, 'upgrade').toLowerCase() !== 'websocket') {
    return 'the server switched to another protocol than WebSocket';
  }
  if (headerValue(headers, 'sec-websocket-accept') !== webSocketAccept(key)) {
    return 'the server did not confirm the WebSocket handshake; a cache on the way may have answered';
  }
  if (protocols.includes(protocol)) return undefined;
  return protocol === ''
    ? `the server chose none of the subprotocols ${protocols.join(', ')}`
    : `the server chose subprotocol ${JSON.stringify(protocol)}, which was not offered`;
}

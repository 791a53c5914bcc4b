import type { Duplex } from 'node:stream';
import { type Scheduler, type WebSocketEvents, WebSocketLink, webSocketAccept } from 'riata/runtime';
import type { ServerRequest } from '../http/server-request.js';
import { badRequest } from '../status/refusal.js';

/** A WebSocket that can be accepted. */
export interface OfferedWebSocket {
  /** The chosen subprotocol. */
  readonly protocol: string;
  /** Switches protocols and starts reading. */
  accept(events: WebSocketEvents): WebSocketLink;
}

/** Reads the handshake of a WebSocket. Throws 400 if it is malformed, or if no subprotocol is supported. */
export function offeredWebSocket(
  request: ServerRequest,
  supported: readonly string[],
  clock: Scheduler,
): OfferedWebSocket {
  const { headers, upgrade } = request;
  const key = headers['sec-websocket-key'];
  if (upgrade === undefined || headers.upgrade === undefined) throw badRequest('Upgrade request required');
  if (headers.upgrade.toLowerCase() !== 'websocket' || key === undefined) {
    throw badRequest(`unable to upgrade: the embedded server speaks websocket, not ${headers.upgrade}`);
  }
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const protocol = offered.find((name) => supported.includes(name));
  if (protocol === undefined) {
    const text = `requested protocol(s) are not supported: [${offered.join(' ')}]; supports [${supported.join(' ')}]`;
    throw badRequest(text);
  }
  const accept = (events: WebSocketEvents) => {
    const duplex = upgrade();
    duplex.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
        `Sec-WebSocket-Accept: ${webSocketAccept(key)}\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`,
    );
    return linkOver(duplex, events, clock);
  };
  return { protocol, accept };
}

function linkOver(duplex: Duplex, events: WebSocketEvents, clock: Scheduler): WebSocketLink {
  const link = new WebSocketLink(
    {
      write: (bytes) => duplex.write(bytes),
      end: () => duplex.end(),
      pause: () => duplex.pause(),
      resume: () => duplex.resume(),
      destroy: () => duplex.destroy(),
    },
    events,
    // Clients send pings; a server that did would keep connections from being idle in tests that wait for that.
    { role: 'server', clock, pingMs: 0 },
  );
  duplex.on('data', (chunk: Uint8Array) => link.received(chunk));
  duplex.on('drain', () => link.drained());
  duplex.on('end', () => link.ended());
  duplex.on('error', (error) => link.failed(error));
  duplex.on('close', () => link.ended());
  return link;
}

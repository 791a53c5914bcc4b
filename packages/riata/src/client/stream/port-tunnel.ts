import { Buffer } from 'node:buffer';
import type { OpenWebSocket } from '../../rest/websocket/open-web-socket.js';
import { SpdySession, type SpdyStream } from '../../runtime/spdy/spdy-session.js';
import type { WebSocketLink } from '../../runtime/websocket/web-socket.js';

/** The subprotocol of port-forwards: SPDY streams within one WebSocket, a pair of them for each connection. */
export const forwardProtocols = ['SPDY/3.1+portforward.k8s.io'] as const;

/** One connection to a port of a Pod. */
export interface PortConnection {
  readonly data: SpdyStream;
  /** Resolves when the node has no complaint; rejects with the one it reports, e.g. that nothing listens. */
  readonly checked: Promise<void>;
}

/** A WebSocket that carries connections to ports of one Pod. */
export class PortTunnel {
  readonly #link: WebSocketLink;
  readonly #session: SpdySession;
  readonly #onEnd: (error: unknown) => void;
  #requests = 0;
  #isOpen = true;

  /** `onEnd` is called once when the tunnel is lost, not after `close`. */
  constructor(socket: OpenWebSocket, onEnd: (error: unknown) => void) {
    this.#onEnd = onEnd;
    this.#session = new SpdySession('client', {
      write: (bytes) => this.#link.send(bytes),
      pause: () => this.#link.pause(),
      resume: () => this.#link.resume(),
      onStream: (stream) => stream.reset(),
    });
    this.#link = socket.start({
      onPiece: (piece) => {
        try {
          this.#session.received(piece);
        } catch (error) {
          this.#link.close(1002);
          this.#lose(error);
        }
      },
      onDrain: () => this.#session.drained(),
      onEnd: (end) => this.#lose('error' in end ? end.error : new Error(`the server closed the tunnel (${end.code})`)),
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Opens a connection to a port. */
  connect(port: number): PortConnection {
    const requestid = String(this.#requests++);
    const error = this.#session.open({ streamtype: 'error', port: String(port), requestid });
    // The client has nothing to complain about.
    error.end();
    const data = this.#session.open({ streamtype: 'data', port: String(port), requestid });
    return { data, checked: complaintOf(error) };
  }

  close(): void {
    this.#isOpen = false;
    this.#link.close();
    this.#session.end(new Error('the port-forward was closed'));
  }

  #lose(error: unknown): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#session.end(error);
    this.#onEnd(error);
  }
}

async function complaintOf(error: SpdyStream): Promise<void> {
  const pieces: Uint8Array[] = [];
  for await (const piece of error.input) pieces.push(piece);
  const text = Buffer.concat(pieces).toString();
  if (text !== '') throw new Error(text);
}

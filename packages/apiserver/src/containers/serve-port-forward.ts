import { Buffer } from 'node:buffer';
import { describeError, type Scheduler, SpdySession, type SpdyStream, type WebSocketLink } from 'riata/runtime';
import type { ServerRequest } from '../http/server-request.js';
import { offeredWebSocket } from './accept-web-socket.js';
import type { PodConnection } from './container-runtime.js';

const protocols = ['SPDY/3.1+portforward.k8s.io'];

export interface ServedPortForward {
  readonly request: ServerRequest;
  /** Called when the connection has left HTTP. */
  readonly onSwitch: () => void;
  readonly clock: Scheduler;
  /** Serves one connection to a port; throwing refuses it. */
  readonly connect: (port: number, connection: PodConnection) => void | Promise<void>;
}

/**
 * Serves a port-forward as kubectl speaks it: SPDY within a WebSocket, a pair of streams for each connection. Resolves
 * when the client has closed it.
 */
export function servePortForward({ request, onSwitch, clock, connect }: ServedPortForward): Promise<void> {
  const offered = offeredWebSocket(request, protocols, clock);
  return new Promise((resolve) => {
    const gone = new AbortController();
    const pairs = new Map<string, { data?: SpdyStream; error?: SpdyStream }>();
    const session: SpdySession = new SpdySession('server', {
      write: (bytes) => link.send(bytes),
      pause: () => link.pause(),
      resume: () => link.resume(),
      onStream: (stream) => {
        const { streamtype = '', requestid = '', port = '' } = stream.headers;
        const pair = pairs.get(requestid) ?? {};
        pairs.set(requestid, pair);
        if (streamtype === 'error') pair.error = stream;
        else pair.data = stream;
        if (pair.data === undefined || pair.error === undefined) return;
        pairs.delete(requestid);
        void serve(pair.data, pair.error, Number(port), connect, gone.signal);
      },
    });
    const end = (error: unknown) => {
      session.end(error);
      gone.abort(error);
      resolve();
    };
    const link: WebSocketLink = offered.accept({
      onPiece: (piece) => {
        try {
          session.received(piece);
        } catch (error) {
          link.close(1002, describeError(error));
          end(error);
        }
      },
      onDrain: () => session.drained(),
      onEnd: (ended) => end('error' in ended ? ended.error : new Error('the client has closed the port-forward')),
    });
    onSwitch();
  });
}

async function serve(
  data: SpdyStream,
  error: SpdyStream,
  port: number,
  connect: ServedPortForward['connect'],
  signal: AbortSignal,
): Promise<void> {
  try {
    const write = (output: string | Uint8Array) =>
      data.write(typeof output === 'string' ? Buffer.from(output) : Uint8Array.from(output));
    await connect(port, { input: data.input, write, signal });
    data.end();
    error.end();
  } catch (thrown) {
    const text = `an error occurred forwarding ${port} -> ${port}: ${describeError(thrown)}`;
    await error.write(Buffer.from(text));
    error.end();
    data.reset();
  }
}

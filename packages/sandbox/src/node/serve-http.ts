import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Duplex, Readable } from 'node:stream';
import type { PodConnection } from '@riata/apiserver';

/** Serves HTTP over a connection to a port of a Pod. Resolves when that has ended. */
export function serveHttp(
  answer: (request: Request) => Response | Promise<Response>,
  port: number,
  connection: PodConnection,
): Promise<void> {
  const server = createServer((incoming, outgoing) => void serve(answer, port, incoming, outgoing));
  const socket = duplexOver(connection);
  return new Promise((resolve) => {
    socket.on('close', () => resolve());
    server.emit('connection', socket);
  });
}

async function serve(
  answer: (request: Request) => Response | Promise<Response>,
  port: number,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  try {
    const { method = 'GET', url = '/', rawHeaders } = incoming;
    const headers = new Headers();
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '');
    const body = method === 'GET' || method === 'HEAD' ? {} : { body: Readable.toWeb(incoming), duplex: 'half' };
    const gone = new AbortController();
    outgoing.on('close', () => gone.abort());
    const init = { method, headers, signal: gone.signal, ...body } as RequestInit;
    const response = await answer(new Request(new URL(url, `http://localhost:${port}`), init));
    outgoing.writeHead(response.status, [...response.headers].flat());
    for await (const piece of response.body ?? []) {
      if (outgoing.destroyed) return;
      if (!outgoing.write(piece)) await new Promise((next) => outgoing.once('drain', next).once('close', next));
    }
    outgoing.end();
  } catch {
    // As a server that has crashed.
    incoming.socket.destroy();
  }
}

function duplexOver({ input, write, signal }: PodConnection): Duplex {
  const source = input[Symbol.asyncIterator]();
  const duplex: Duplex = new Duplex({
    read() {
      source.next().then(
        ({ value, done }) => duplex.push(done ? null : value),
        (error) => duplex.destroy(error as Error),
      );
    },
    write(chunk: Uint8Array, _encoding, done) {
      write(chunk).then(
        () => done(),
        (error) => done(error as Error),
      );
    },
  });
  duplex.on('error', () => {});
  signal.addEventListener('abort', () => duplex.destroy(), { once: true });
  return duplex;
}

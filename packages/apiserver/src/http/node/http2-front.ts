import type { Http2Server, IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { closeIdleSession, type Scheduler } from 'riata/runtime';

/** Takes a stream over which a request comes. */
export type TakeStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: string[]) => void;

/** As kube-apiserver has them. */
const settings = { maxConcurrentStreams: 100, initialWindowSize: 256 * 1024, maxHeaderListSize: 1024 * 1024 };
/** Node's 128 are fewer than a user in many groups takes to impersonate. */
const maxHeaderListPairs = 10_000;
/** Idle connections are kept as long as kube-apiserver keeps them. */
const idleMs = 90_000;
/** Megabytes that one connection may take for what its streams have yet to send. Node's 10 are one long list. */
const sessionMemory = 256;

/** The connections of a server over which clients speak HTTP/2. Node's module is loaded by the first of them. */
export class Http2Front {
  readonly #takeStream: TakeStream;
  readonly #clock: Scheduler;
  readonly #sessions = new Set<ServerHttp2Session>();
  #server: Http2Server | undefined;

  constructor(takeStream: TakeStream, clock: Scheduler) {
    this.#takeStream = takeStream;
    this.#clock = clock;
  }

  /** Takes a connection whose client has chosen HTTP/2 in the TLS handshake. */
  take(socket: TLSSocket): void {
    this.#server ??= this.#create();
    this.#server.emit('connection', socket);
  }

  /** Notifies clients that no more requests are accepted. Those in flight continue. */
  close(): void {
    for (const session of this.#sessions) session.close();
  }

  #create(): Http2Server {
    const { createServer } = process.getBuiltinModule('node:http2');
    const server = createServer({ settings, maxSessionMemory: sessionMemory, maxHeaderListPairs });
    server.on('session', (session) => {
      this.#sessions.add(session);
      session.once('close', () => this.#sessions.delete(session));
      // A broken connection shows by the end of its streams.
      session.on('error', () => {});
      closeIdleSession(session, this.#clock, idleMs);
    });
    // The fourth argument is missing in Node's types.
    const take = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, raw: string[] = []) =>
      this.#takeStream(stream, headers, raw);
    server.on('stream', take);
    return server;
  }
}

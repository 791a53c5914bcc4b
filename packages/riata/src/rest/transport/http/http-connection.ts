import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import type { Scheduler } from '../../../runtime/time/clock.js';
import { LazyDeadline } from '../lazy-deadline.js';
import type { TransportRequest } from '../transport.js';
import { delayWriteErrors } from './delay-write-errors.js';
import type { RequestHeads } from './request-heads.js';
import { HeadParser, type ResponseHead } from './response-head.js';
import { ResponseParser } from './response-parser.js';
import type { Dialler } from './socket-connector.js';

/** One exchange on a connection, as the connection sees it. None of these calls may throw. */
export interface ConnectionUser {
  readonly request: TransportRequest;
  /** Whether to ask for a gzipped answer. */
  readonly gzip: boolean;
  /** The connection is there. Returns false if the request was aborted: then nothing is written. */
  onReady(): boolean;
  onHead(head: Pick<ResponseHead, 'status' | 'headers'>): void;
  /** Bytes in memory that is used again: valid during the call. After a 101, they are left to the user. */
  onBody(chunk: Uint8Array): void;
  /** All has come, and the connection is free if it could be kept. */
  onEnd(): void;
  /** The connection is lost. */
  onError(error: unknown): void;
  /** More can be written. */
  onDrain(): void;
  /** A limit of time has run out. */
  onLate(): void;
}

/** A connection as the exchange on it sees it. */
export interface Connection {
  /** Whether it carried an exchange before this one: the peer may have closed it since without our knowing yet. */
  readonly reused: boolean;
  /** The one timer of the connection and of the exchange on it; calls the user's `onLate`. */
  readonly deadline: LazyDeadline;
  /** Sends the user's request. One at a time. */
  send(user: ConnectionUser): void;
  /** Stops handing out the body, from this moment on. */
  pause(): void;
  /** Hands out the body again. */
  resume(): void;
  /** Once the protocol was switched: sends bytes. False when the peer does not keep up. */
  write(bytes: Uint8Array): boolean;
  /** Once the protocol was switched: sends no more. */
  endWriting(): void;
}

export interface HttpConnectionOptions {
  readonly dialler: Dialler;
  readonly heads: RequestHeads;
  readonly scheduler: Scheduler;
  /** How long it is kept while unused; 0 for as long as the server does. */
  readonly keepAliveMs: number;
  /** It is gone for good. Called once, never from within a call of the user's. */
  readonly onClosed: () => void;
}

/** What a server says about idle connections counts a little less, so that no request meets the end on its way. */
const keepAliveMarginMs = 1_000;

/**
 * One connection to a server over HTTP/1.1, for one exchange at a time; dialled with the first. A lean one: a request is
 * one write, a response is read in place from the memory that the socket reads into, without streams, and all limits of
 * time share one timer.
 */
export class HttpConnection implements Connection {
  reused = false;
  readonly #options: HttpConnectionOptions;
  readonly deadline: LazyDeadline;
  readonly #heads = new HeadParser();
  #socket: Socket | undefined;
  #user: ConnectionUser | undefined;
  #parser: ResponseParser | undefined;
  #head: ResponseHead | undefined;
  /** Copies of what came while it was paused. */
  #waiting: Buffer[] = [];
  #ended = false;
  /** Bytes are being handed out: who pauses and resumes meanwhile is heard when that returns. */
  #feeding = false;
  #closed = false;
  /** Whether a body is still being sent in pieces. */
  #sending = false;
  #onDrained: () => void = () => {};

  constructor(options: HttpConnectionOptions) {
    this.#options = options;
    this.deadline = new LazyDeadline(options.scheduler, () => this.#onDeadline());
  }

  /** False once it cannot be used any more. */
  get open(): boolean {
    return !this.#closed;
  }

  send(user: ConnectionUser): void {
    this.#user = user;
    let head: string;
    try {
      head = this.#options.heads.of(user.request, user.gzip);
    } catch (error) {
      // Who sends is not called back within it.
      queueMicrotask(() => this.#fail(error));
      return;
    }
    this.deadline.set(0);
    if (this.#socket) {
      this.reused = true;
      this.#socket.ref();
      this.#write(this.#socket, user, head);
      return;
    }
    // Another protocol's reader keeps what comes, and the connection is used for nothing else.
    this.#options.dialler.open(this.#onRead, { keeps: user.request.upgrade !== undefined }).then(
      (socket) => {
        if (this.#closed) socket.destroy();
        else this.#attach(socket, user, head);
      },
      (error: unknown) => this.#fail(error),
    );
  }

  pause(): void {
    if (this.#events.isPaused) return;
    this.#events.isPaused = true;
    if (!this.#feeding) this.#socket?.pause();
  }

  resume(): void {
    if (!this.#events.isPaused) return;
    this.#events.isPaused = false;
    if (!this.#feeding) this.#goOn();
  }

  write(bytes: Uint8Array): boolean {
    return this.#socket?.write(bytes) ?? false;
  }

  endWriting(): void {
    this.#socket?.end();
  }

  /** Ends it now: dialling, connection and what runs on it, of which the user hears no more. */
  destroy(): void {
    this.#user = undefined;
    this.#close();
  }

  /** Resolves when the socket is closed, after `destroy`. */
  async whenClosed(): Promise<void> {
    const socket = this.#socket;
    if (socket !== undefined && !socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  }

  #attach(socket: Socket, user: ConnectionUser, head: string): void {
    this.#socket = socket;
    socket.on('error', (error) => this.#fail(error));
    socket.on('drain', () => {
      this.#onDrained();
      this.#user?.onDrain();
    });
    socket.on('end', () => {
      this.#ended = true;
      if (!this.#events.isPaused && !this.#feeding) this.#goOn();
    });
    socket.on('close', () => {
      if (this.#ended && this.#events.isPaused) return;
      this.#ended = true;
      this.#goOn();
    });
    this.#write(socket, user, head);
  }

  #write(socket: Socket, user: ConnectionUser, head: string): void {
    const { method, body, bodyStream, upgrade } = user.request;
    this.#parser = new ResponseParser(method, this.#events, this.#heads, upgrade !== undefined);
    if (!user.onReady() || this.#closed) return;
    if (upgrade !== undefined || bodyStream !== undefined) delayWriteErrors(socket, this.#options.scheduler);
    if (bodyStream !== undefined) void this.#writePieces(socket, user, head, bodyStream);
    else if (body === undefined) socket.write(head, 'latin1');
    // Text whose characters are a byte each goes out as it is.
    else if (typeof body === 'string' && isAscii(body)) socket.write(head + body, 'latin1');
    else if (typeof body === 'string' && isAscii(head)) socket.write(head + body, 'utf8');
    else {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(body);
      socket.uncork();
    }
  }

  /** Sends a body of unknown length. An answer may come, and end the exchange, before all of it is sent. */
  async #writePieces(
    socket: Socket,
    user: ConnectionUser,
    head: string,
    pieces: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const isOver = () => this.#closed || this.#user !== user;
    this.#sending = true;
    socket.write(head, 'latin1');
    try {
      for await (const piece of pieces) {
        if (isOver()) return;
        if (piece.length === 0) continue;
        socket.cork();
        socket.write(`${piece.length.toString(16)}\r\n`, 'latin1');
        socket.write(piece);
        const hasRoom = socket.write('\r\n', 'latin1');
        socket.uncork();
        if (hasRoom) continue;
        await new Promise<void>((resolve) => {
          this.#onDrained = resolve;
        });
        if (isOver()) return;
      }
      if (isOver()) return;
      socket.write('0\r\n\r\n', 'latin1');
      this.#sending = false;
    } catch (error) {
      if (!isOver()) this.#fail(error);
    }
  }

  /** What the parser calls, and the one place that says whether the user has paused. */
  readonly #events = {
    isPaused: false,
    onHead: (head: ResponseHead): void => {
      this.#head = head;
      this.#user?.onHead(head);
    },
    onBody: (chunk: Uint8Array): void => this.#user?.onBody(chunk),
  };

  /** Takes what the socket has read; false to stop reading. */
  readonly #onRead = (length: number, memory: Buffer): boolean => {
    if (this.#closed) return false;
    const bytes = memory.subarray(0, length);
    if (this.#events.isPaused || this.#feeding) this.#waiting.push(Buffer.from(bytes));
    else this.#feed(bytes);
    return !this.#events.isPaused && !this.#closed;
  };

  #feed(bytes: Buffer): void {
    const parser = this.#parser;
    // No request is in flight: these bytes would be taken for the next answer.
    if (parser === undefined) {
      this.#close();
      return;
    }
    let read = 0;
    this.#feeding = true;
    try {
      read = parser.feed(bytes);
    } catch (error) {
      this.#feeding = false;
      this.#fail(error);
      return;
    }
    this.#feeding = false;
    if (this.#closed) return;
    if (parser.done) this.#finish(read === bytes.length && this.#waiting.length === 0);
    else if (read < bytes.length) this.#waiting.unshift(Buffer.from(bytes.subarray(read)));
  }

  /** After a pause, and when the other side has closed: first what waits, then the socket. */
  #goOn(): void {
    while (!this.#events.isPaused && !this.#closed && this.#waiting.length > 0)
      this.#feed(this.#waiting.shift() as Buffer);
    if (this.#events.isPaused || this.#closed) return;
    const parser = this.#parser;
    if (parser === undefined) {
      if (this.#ended) this.#close();
      return;
    }
    try {
      if (this.#ended) parser.end();
      else parser.settle();
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (parser.done) this.#finish(true);
    else this.#socket?.resume();
  }

  /** The response is whole. `clean`: with nothing behind it. */
  #finish(clean: boolean): void {
    const user = this.#user;
    const head = this.#head;
    this.#user = undefined;
    this.#parser = undefined;
    this.#head = undefined;
    const { keepAliveMs } = this.#options;
    const hintMs = head?.keepAliveSeconds === undefined ? undefined : head.keepAliveSeconds * 1000 - keepAliveMarginMs;
    const keepMs = hintMs === undefined ? keepAliveMs : Math.min(keepAliveMs || hintMs, hintMs);
    const isIdle = !this.#ended && !this.#sending && this.#socket?.writableLength === 0;
    const kept = clean && head?.keepAlive === true && isIdle;
    if (!kept || (hintMs !== undefined && hintMs <= 0)) this.#close();
    else {
      this.deadline.set(keepMs);
      // A pause may have stopped the reading, and the end was found among what had been read before.
      this.#socket?.resume();
      // Unused, it is no reason for the process to stay.
      this.#socket?.unref();
    }
    user?.onEnd();
  }

  #onDeadline(): void {
    if (this.#user) this.#user.onLate();
    else this.#close();
  }

  #fail(error: unknown): void {
    const user = this.#user;
    this.#user = undefined;
    this.#close();
    user?.onError(error);
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.deadline.cancel();
    this.#parser = undefined;
    this.#waiting = [];
    this.#onDrained();
    this.#options.dialler.cancel();
    this.#socket?.destroy();
    queueMicrotask(this.#options.onClosed);
  }
}

/** Only then is it the same in UTF-8, so that head and body can be one piece of text. */
function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

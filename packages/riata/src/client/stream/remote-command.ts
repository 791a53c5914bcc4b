import type { Status } from '../../object/meta.js';
import { TransportError } from '../../rest/errors/transport-error.js';
import { copyBytes } from '../../rest/transport/copy-bytes.js';
import type { OpenWebSocket } from '../../rest/websocket/open-web-socket.js';
import { ByteChannel } from '../../runtime/byte-channel.js';
import { pieceToKeep } from '../../runtime/piece-to-keep.js';
import type { WebSocketEnd, WebSocketLink } from '../../runtime/websocket/web-socket.js';
import { ExecError } from './exec-error.js';

/** The subprotocols of exec and attach that are spoken, the better one first. */
export const commandProtocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const;

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

/** As much of each output is buffered before the server is asked to wait. */
const highWaterBytes = 256 * 1024;
/** Input is sent in messages of this size: servers refuse very long ones. */
const messageBytes = 64 * 1024;
/** The codes of a WebSocket that was closed in order: normal, or none given. */
const cleanCloses: ReadonlySet<number> = new Set([1000, 1005]);
/** More of a Status than this is none. */
const maxStatusBytes = 1024 * 1024;

/**
 * The channels of a command over one WebSocket. It is over when the server has reported a Status and closed the
 * WebSocket: until then, an end of any kind is an error, as output may be missing.
 */
export class RemoteCommand {
  readonly stdout: ByteChannel;
  readonly stderr: ByteChannel;
  /** Resolves with the server's report; rejects if none came. */
  readonly ended: Promise<Status>;
  readonly protocol: string;
  readonly #link: WebSocketLink;
  readonly #origin: string;
  #channel = -1;
  #status: Uint8Array[] = [];
  #statusBytes = 0;
  #isOver = false;
  #isInputEnded = false;
  #settle!: { resolve(status: Status): void; reject(error: unknown): void };
  #waiting: (() => void)[] = [];
  #lastWrite: Promise<void> = Promise.resolve();

  constructor(socket: OpenWebSocket) {
    this.protocol = socket.protocol;
    this.#origin = socket.origin;
    this.ended = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    // Reading the output fails as well: who only does that need not look here.
    this.ended.catch(() => {});
    this.stdout = new ByteChannel(highWaterBytes, () => this.#onFlow());
    this.stderr = new ByteChannel(highWaterBytes, () => this.#onFlow());
    this.#link = socket.start({
      onPiece: (piece, at) => this.#onPiece(piece, at.first),
      onDrain: () => this.#release(),
      onEnd: (end) => this.#onEnd(end),
    });
  }

  /** Whether the server has closed it, or it was closed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Sends input. Resolves when more can be sent; what the command does not take any more is dropped. */
  write(bytes: Uint8Array): Promise<void> {
    if (this.#isInputEnded) return Promise.reject(new TypeError('stdin: write after end'));
    return this.#inOrder(() => this.#send(bytes));
  }

  /** Ends the input. Only v5 can do that: with v4 a command that reads to the end would wait for ever. */
  endInput(): void {
    if (this.#isInputEnded || this.#isOver) return;
    this.#isInputEnded = true;
    void this.#inOrder(async () => {
      if (this.#isOver) return;
      if (this.protocol === commandProtocols[0]) {
        this.#link.send(Uint8Array.of(channels.stdin), channels.close);
        return;
      }
      const text = `the server speaks ${this.protocol} only, which cannot end stdin; ${commandProtocols[0]} requires Kubernetes 1.30`;
      this.close(new ExecError(`${this.#origin}: ${text}`));
    });
  }

  async #send(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += messageBytes) {
      if (this.#isOver) return;
      if (!this.#link.send(bytes.subarray(at, at + messageBytes), channels.stdin)) await this.#drained();
    }
  }

  /** Writes wait for each other, so that the input stays in order even if a caller does not await them. */
  #inOrder(step: () => Promise<void>): Promise<void> {
    const done = this.#lastWrite.then(step);
    this.#lastWrite = done.catch(() => {});
    return done;
  }

  /** Reports the size of the terminal. */
  resize(columns: number, rows: number): void {
    const text = JSON.stringify({ Width: columns, Height: rows });
    this.#link.send(new TextEncoder().encode(text), channels.resize);
  }

  /** Closes the connection; the node then ends the command's streams. What has not ended yet fails with `reason`. */
  close(reason: unknown): void {
    if (this.#isOver) return;
    this.#link.close();
    this.#finish({ error: reason });
  }

  #onPiece(piece: Uint8Array, isFirst: boolean): void {
    let bytes = piece;
    if (isFirst) {
      // An empty message belongs to no channel.
      this.#channel = piece[0] ?? -1;
      bytes = piece.subarray(1);
    }
    if (bytes.length === 0) return;
    if (this.#channel === channels.stdout) this.stdout.push(pieceToKeep(bytes));
    else if (this.#channel === channels.stderr) this.stderr.push(pieceToKeep(bytes));
    else if (this.#channel === channels.error) this.#takeStatus(bytes);
  }

  #takeStatus(bytes: Uint8Array): void {
    this.#statusBytes += bytes.length;
    if (this.#statusBytes <= maxStatusBytes) this.#status.push(copyBytes(bytes));
  }

  #onEnd(end: WebSocketEnd): void {
    if ('error' in end) this.#finish(end);
    else if (this.#statusBytes === 0 || !cleanCloses.has(end.code)) {
      const why = end.reason === '' ? '' : `: ${end.reason}`;
      this.#finish(this.#broken(`the server closed the stream (${end.code}${why}) without reporting how it ended`));
    } else this.#finish(this.#parseStatus());
  }

  #parseStatus(): { readonly status: Status } | { readonly error: unknown } {
    const text = Buffer.concat(this.#status).toString();
    try {
      const status = JSON.parse(text) as Status;
      if (status?.status === 'Success' || status?.status === 'Failure') return { status };
    } catch {
      // Not a Status, as what follows says.
    }
    return this.#broken(`the server reported a malformed status: ${JSON.stringify(text.slice(0, 200))}`);
  }

  #broken(what: string): { readonly error: unknown } {
    return { error: new TransportError(`${this.#origin}: ${what}`, { kind: 'eof', requestSent: true }) };
  }

  #finish(outcome: { readonly status: Status } | { readonly error: unknown }): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#release();
    // Streams that broke, or a command that was never started: the output is not all there is.
    const failure = 'error' in outcome ? outcome : failureOf(outcome.status);
    this.stdout.end(failure ?? {});
    this.stderr.end(failure ?? {});
    if (failure === undefined) this.#settle.resolve((outcome as { readonly status: Status }).status);
    else this.#settle.reject(failure.error);
  }

  /** The socket is read while every output has room. */
  #onFlow(): void {
    if (this.#isOver) return;
    if (this.stdout.isFull || this.stderr.isFull) this.#link.pause();
    else this.#link.resume();
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** The exit code that a Status reports; undefined if it reports none. */
export function exitCodeOf(status: Status): number | undefined {
  if (status.status === 'Success') return 0;
  if (status.reason !== 'NonZeroExitCode') return undefined;
  const code = Number(status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message);
  return Number.isInteger(code) ? code : undefined;
}

/** The error of a Status that reports no exit of the command. */
function failureOf(status: Status): { readonly error: unknown } | undefined {
  if (exitCodeOf(status) !== undefined) return undefined;
  return { error: new ExecError(status.message || `exec failed: ${status.reason || 'no reason given'}`, { status }) };
}

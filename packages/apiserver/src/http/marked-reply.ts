import type { Reply, ReplyHeaders } from './reply.js';

/** An answer whose head carries what every answer to this request does. */
export class MarkedReply implements Reply {
  readonly #to: Reply;
  #marks: ReplyHeaders;
  /** The status that was sent; 0: none yet. */
  status = 0;
  /** How long the body is so far. */
  bytes = 0;
  /** Called with the status, before the head is sent. */
  onHead: ((status: number) => void) | undefined;
  /** Called with the length of each piece of the body. */
  onWrite: ((bytes: number) => void) | undefined;

  constructor(to: Reply, marks: ReplyHeaders) {
    this.#to = to;
    this.#marks = marks;
  }

  /** Adds headers; after the head was sent it is too late. */
  mark(headers: ReplyHeaders): void {
    this.#marks = { ...this.#marks, ...headers };
  }

  /** Leaves a header out that was marked before. */
  unmark(name: string): void {
    const { [name]: _, ...others } = this.#marks;
    this.#marks = others;
  }

  /** The connection has left HTTP: nothing more is sent here. */
  switched(): void {
    this.status = 101;
    this.onHead?.(101);
  }

  get started(): boolean {
    return this.#to.started;
  }

  get ended(): boolean {
    return this.#to.ended;
  }

  get bufferedBytes(): number {
    return this.#to.bufferedBytes;
  }

  head(status: number, headers: ReplyHeaders): void {
    if (this.status === 0) {
      this.status = status;
      this.onHead?.(status);
    }
    this.#to.head(status, { ...this.#marks, ...headers });
  }

  write(bytes: Uint8Array): boolean {
    this.bytes += bytes.length;
    this.onWrite?.(bytes.length);
    return this.#to.write(bytes);
  }

  end(): void {
    this.#to.end();
  }

  abort(): void {
    this.#to.abort();
  }

  drained(): Promise<void> {
    return this.#to.drained();
  }
}

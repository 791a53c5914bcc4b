import { connect } from 'node:tls';

const END = Buffer.from('\r\n\r\n');

/** Where all connections read into, one after the other: that takes half the CPU time of pieces of their own. */
const shared = Buffer.allocUnsafe(64 * 1024);

/**
 * One HTTP/1.1 connection over TLS that costs the machine as little as it can, so that what is measured is the server:
 * bodies are counted and kept only if asked for.
 */
export class Connection {
  #socket;
  #headers;
  #take = () => {};

  /** @param {{ url: string, ca: string, token: string }} server */
  static async open(server) {
    const { hostname: host, port } = new URL(server.url);
    const connection = new Connection(`Host: ${host}\r\nAuthorization: Bearer ${server.token}\r\n`);
    const callback = (length) => connection.#take(shared.subarray(0, length));
    const onread = { buffer: shared, callback };
    const socket = connect({ host, port: Number(port), ca: server.ca, ALPNProtocols: ['http/1.1'], onread });
    socket.setNoDelay(true);
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
    socket.on('error', () => {});
    connection.#socket = socket;
    return connection;
  }

  constructor(headers) {
    this.#headers = headers;
  }

  #send(method, path, body, type, more = '') {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const about = bytes === undefined ? '' : `Content-Type: ${type}\r\nContent-Length: ${bytes.length}\r\n`;
    this.#socket.cork();
    this.#socket.write(`${method} ${path} HTTP/1.1\r\n${this.#headers}${more}${about}\r\n`);
    if (bytes !== undefined) this.#socket.write(bytes);
    this.#socket.uncork();
  }

  /** The whole answer: status, bytes of the body, and the text of a short one. Fails unless the status is 2xx. */
  request(method, path, body, { type = 'application/json', gzip = false } = {}) {
    return new Promise((resolve, reject) => {
      const answer = new Answer(resolve, reject, `${method} ${path}`);
      this.#take = (chunk) => answer.take(chunk);
      this.#socket.once('close', () => reject(new Error(`${method} ${path}: the connection was closed`)));
      this.#send(method, path, body, type, gzip ? 'Accept-Encoding: gzip\r\n' : '');
    }).finally(() => this.#socket.removeAllListeners('close'));
  }

  /** Hands over the bytes of an answer that does not end, framing and all. Resolves when its head has come. */
  stream(path, onData) {
    return new Promise((resolve, reject) => {
      this.#socket.once('close', () => reject(new Error(`GET ${path}: the connection was closed`)));
      this.#take = (chunk) => {
        const end = chunk.indexOf(END);
        const head = chunk.toString('latin1', 0, Math.max(end, 0));
        if (!head.startsWith('HTTP/1.1 200')) return reject(new Error(`GET ${path}: ${chunk.toString('utf8')}`));
        this.#take = onData;
        resolve();
        if (chunk.length > end + END.length) onData(chunk.subarray(end + END.length));
      };
      this.#send('GET', path);
    });
  }

  close() {
    this.#socket.destroy();
  }
}

const KEPT = 64 * 1024;

/** Finds the end of an answer. */
class Answer {
  #resolve;
  #reject;
  #what;
  #head;
  #status = 0;
  /** Of the body, or of the chunk that is being read; undefined: a size has to come first. */
  #left;
  #chunked = false;
  #size = '';
  #bytes = 0;
  #kept = [];

  constructor(resolve, reject, what) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#what = what;
  }

  take(chunk) {
    let rest = chunk;
    if (this.#status === 0) {
      rest = this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk]);
      const end = rest.indexOf(END);
      if (end < 0) {
        this.#head = Buffer.from(rest);
        return;
      }
      const head = rest.toString('latin1', 0, end).toLowerCase();
      this.#status = Number(head.slice(9, 12));
      this.#chunked = head.includes('\r\ntransfer-encoding: chunked');
      if (!this.#chunked) this.#left = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? 0);
      rest = rest.subarray(end + END.length);
      if (this.#left === 0) return this.#done();
    }
    let at = 0;
    while (at < rest.length) {
      if (this.#left === undefined) {
        const end = rest.indexOf(10, at);
        this.#size += rest.toString('latin1', at, end < 0 ? rest.length : end);
        if (end < 0) return;
        at = end + 1;
        if (this.#size.trim() === '') {
          this.#size = '';
          continue; // the line that ends a chunk, or all of them
        }
        this.#left = Number.parseInt(this.#size, 16);
        this.#size = '';
        if (this.#left === 0) return this.#done();
        continue;
      }
      const take = Math.min(this.#left, rest.length - at);
      if (this.#bytes < KEPT) this.#kept.push(Buffer.from(rest.subarray(at, at + take)));
      this.#bytes += take;
      this.#left -= take;
      at += take;
      if (this.#left === 0) {
        if (!this.#chunked) return this.#done();
        this.#left = undefined;
      }
    }
  }

  #done() {
    const text = this.#bytes <= KEPT ? Buffer.concat(this.#kept).toString('utf8') : '';
    if (this.#status >= 300) this.#reject(new Error(`${this.#what}: ${this.#status} ${text}`));
    else this.#resolve({ status: this.#status, bytes: this.#bytes, text });
  }
}

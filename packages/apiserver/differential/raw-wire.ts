import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import type { Place } from './wire.js';

/** An answer as it came over a socket. */
export interface RawAnswer {
  /** The status line, e.g. `HTTP/1.1 400 Bad Request`. */
  readonly line: string;
  /** Those that can be compared. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the server has closed the connection, without being asked to. */
  readonly closed: boolean;
}

const compared = ['content-type', 'connection', 'x-content-type-options', 'cache-control', 'retry-after', 'allow'];

/**
 * Sends bytes as they are, and reads one answer: to the end of the connection if the server closes it. `$TOKEN` stands
 * for the administrator's token.
 */
export function sendRaw(place: Place, text: string): Promise<RawAnswer> {
  const { hostname: host, port } = new URL(place.url);
  const to = { host, port: Number(port) };
  return new Promise((resolve) => {
    const socket: Socket =
      place.ca === undefined ? connect(to) : connectSecurely({ ...to, ca: place.ca, ALPNProtocols: ['http/1.1'] });
    let heard = '';
    const done = (closed: boolean) => {
      socket.destroy();
      resolve(answerOf(heard, closed));
    };
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => {
      heard += part;
      if (isComplete(heard)) done(false);
    });
    socket.on('end', () => done(true));
    // A server that does not read to the end resets the connection: its answer may be lost then.
    socket.on('error', () => done(true));
    socket.write(text.replaceAll('$TOKEN', place.token));
  });
}

/** Whether an answer of known length is there as a whole, on a connection that stays. */
function isComplete(heard: string): boolean {
  const end = heard.indexOf('\r\n\r\n');
  if (end < 0 || /\r\nconnection: close/i.test(heard.slice(0, end))) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(heard.slice(0, end))?.[1];
  return length !== undefined && heard.length - end - 4 >= Number(length);
}

function answerOf(heard: string, closed: boolean): RawAnswer {
  const [head = '', ...rest] = heard.split('\r\n\r\n');
  const [line = '', ...fields] = head.split('\r\n');
  const headers = fields.flatMap((field) => {
    const at = field.indexOf(':');
    const name = field.slice(0, at).toLowerCase();
    // Node says that a connection stays, which HTTP/1.1 means anyway.
    const value = field.slice(at + 1).trim();
    return compared.includes(name) && value !== 'keep-alive' ? [[name, value]] : [];
  });
  return { line, headers: Object.fromEntries(headers), body: rest.join('\r\n\r\n'), closed };
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The responses of Go's HTTP server to malformed requests, by the error codes of Node's parser. */
const answers: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_INVALID_VERSION: '505 HTTP Version Not Supported: unsupported protocol version',
};

/**
 * Answers a request that cannot be read, as Go's HTTP server does. A client that was too slow, or whose TLS handshake
 * has failed, gets no answer: its connection is closed.
 */
export function answerClientError(error: Error & { readonly code?: string }, socket: Duplex): void {
  const { code = '' } = error;
  // Only the parser's errors are about something that came.
  if (!socket.writable || !code.startsWith('HPE_')) {
    socket.destroy();
    return;
  }
  const text = answers[code] ?? '400 Bad Request';
  socket.end(`HTTP/1.1 ${text}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${text}`, () =>
    socket.destroy(),
  );
}

/** What is wrong with the head of a request that Node's parser has taken; undefined: nothing. */
export function headProblem({ httpVersion, headers, rawHeaders }: IncomingMessage): string | undefined {
  const { host } = headers;
  if (host === undefined) return httpVersion === '1.1' ? 'Bad Request: missing required Host header' : undefined;
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if ((rawHeaders[i] as string).toLowerCase() === 'host') hosts += 1;
  if (hosts > 1) return 'Bad Request';
  return /^[\w.~!$&'()*+,;=:[\]%@-]*$/.test(host) ? undefined : 'Bad Request: malformed Host header';
}

/** Answers a request with such a head, and closes its connection. */
export function answerBadHead(response: ServerResponse, problem: string): void {
  const headers = { 'content-type': 'text/plain; charset=utf-8', connection: 'close' };
  response.sendDate = false;
  response.useChunkedEncodingByDefault = false;
  response.writeHead(400, problem, headers).end(`400 ${problem}`);
}

import { errorCode, TransportError, type TransportErrorKind } from '../transport-error.js';
import { ConnectFailure, describeFailure } from './connect-failure.js';

/** The exchange that failed, as its error shall name it. */
export interface FailedExchange {
  readonly method: string;
  /** Without query and credentials. */
  readonly url: string;
  /** Whether the request may have been written. */
  readonly requestSent: boolean;
  /** Whether the response's headers had come. */
  readonly answered: boolean;
}

/** Makes a {@link TransportError} of whatever undici, a socket, TLS or zlib came up with. */
export function explainFailure(error: unknown, exchange: FailedExchange): TransportError {
  const { method, url, requestSent, answered } = exchange;
  if (error instanceof ConnectFailure) {
    const { kind, message, cause } = error;
    return new TransportError(`${method} ${url}: ${message}`, { kind, requestSent: false, cause: cause ?? error });
  }
  const [kind, what] = classify(error, answered);
  return new TransportError(`${method} ${url}: ${what}`, { kind, requestSent, cause: error });
}

type Finding = readonly [kind: TransportErrorKind, what: string];

function classify(error: unknown, answered: boolean): Finding {
  const code = errorCode(error) ?? '';
  const message = error instanceof Error ? error.message : String(error);
  const when = answered ? 'in the middle of the response' : 'before a response came';
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'ECONNABORTED') {
    return ['reset', `the connection was cut ${when} (${code})`];
  }
  if (code === 'ETIMEDOUT' || code === 'EHOSTUNREACH' || code === 'ENETUNREACH' || code === 'ENETDOWN') {
    return ['reset', `the connection was lost ${when} (${code}): the other end has stopped answering`];
  }
  switch (code) {
    case 'UND_ERR_SOCKET':
      // "bad response" and "bad upgrade" are about what came; the rest says that the other side has closed.
      if (message.startsWith('bad '))
        return ['protocol', `the server sent what is no answer to the request (${message})`];
      return ['eof', `the server closed the connection ${when}`];
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return ['eof', 'the response ended before all that it announced had come'];
    case 'UND_ERR_HEADERS_OVERFLOW':
      return ['protocol', 'the headers of the response are too long'];
    case 'UND_ERR_DESTROYED':
    case 'UND_ERR_CLOSED':
      return ['closed', 'the transport was closed'];
    case 'UND_ERR_INVALID_ARG':
    case 'UND_ERR_NOT_SUPPORTED':
    case 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH':
      return ['invalid-request', `the request cannot be sent: ${message}`];
  }
  if (error instanceof Error && error.name === 'HTTPParserError') {
    if (/\bEOF\b/.test(message)) return ['eof', 'the response ended before all that it announced had come'];
    return ['protocol', `what came is no HTTP (${message}); is the server's address right?`];
  }
  if (code.startsWith('Z_')) return ['decompress', `the gzipped response is broken (${message})`];
  // With TLS 1.3 a refusal of the client's certificate comes after the handshake.
  if (/^ERR_(SSL|TLS|OSSL)_/.test(code)) return ['tls', `TLS failed: ${describeFailure(error)}`];
  return ['unknown', describeFailure(error)];
}

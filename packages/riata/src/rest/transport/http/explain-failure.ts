import { errorCode, TransportError, type TransportErrorKind } from '../../errors/transport-error.js';
import { AnswerFailure } from './answer-failure.js';
import { ConnectFailure, describeFailure } from './connect-failure.js';

/** The exchange that failed, as its error shall name it. */
export interface FailedExchange {
  /** Method and URL, without query and credentials. */
  readonly what: string;
  /** Whether the request may have been written. */
  readonly requestSent: boolean;
  /** Whether the response's headers had come. */
  readonly answered: boolean;
}

/** Makes a {@link TransportError} of whatever a connection, a socket, TLS or zlib came up with. */
export function explainFailure(error: unknown, exchange: FailedExchange): TransportError {
  const { what: exchanged, requestSent, answered } = exchange;
  if (error instanceof ConnectFailure) {
    const { kind, message, cause } = error;
    return new TransportError(`${exchanged}: ${message}`, { kind, requestSent: false, cause: cause ?? error });
  }
  const [kind, what] = classify(error, answered);
  return new TransportError(`${exchanged}: ${what}`, { kind, requestSent, cause: error });
}

type Finding = readonly [kind: TransportErrorKind, what: string];

function classify(error: unknown, answered: boolean): Finding {
  const code = errorCode(error) ?? '';
  const message = error instanceof Error ? error.message : String(error);
  const when = answered ? 'in the middle of the response' : 'before a response came';
  // Node's error for an orderly close that came too early.
  if (code === 'ECONNRESET' && /^(socket hang up|aborted)$/.test(message)) {
    return ['eof', `the server closed the connection ${when}`];
  }
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'ECONNABORTED') {
    return ['reset', `the connection was cut ${when} (${code})`];
  }
  if (code === 'ETIMEDOUT' || code === 'EHOSTUNREACH' || code === 'ENETUNREACH' || code === 'ENETDOWN') {
    return ['reset', `the connection was lost ${when} (${code}): the other end has stopped answering`];
  }
  if (error instanceof AnswerFailure) {
    if (error.kind === 'eof') return ['eof', message];
    return ['protocol', notHttp(message)];
  }
  if (code.startsWith('HPE_')) return ['protocol', notHttp(`${message}, ${code}`)];
  if (code.startsWith('Z_')) return ['decompress', `the gzipped response is broken (${message})`];
  // With TLS 1.3 a refusal of the client's certificate comes after the handshake.
  if (/^ERR_(SSL|TLS|OSSL)_/.test(code)) return ['tls', `TLS failed: ${describeFailure(error)}`];
  return ['unknown', describeFailure(error)];
}

function notHttp(why: string): string {
  return `the response is not valid HTTP/1.1 (${why}); is the server's address right?`;
}

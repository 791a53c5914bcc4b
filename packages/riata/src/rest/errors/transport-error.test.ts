import { expect, test } from 'vitest';
import {
  errorCode,
  isConnectError,
  isConnectionRefused,
  isConnectionReset,
  isProbableEof,
  isTimeoutError,
  isTlsError,
  isTransportError,
  TransportError,
  type TransportErrorKind,
} from './transport-error.js';

const make = (kind: TransportErrorKind, requestSent = true) => new TransportError('x', { kind, requestSent });

test('guards go by kind, and an error of another copy of the package is known too', () => {
  expect(isConnectionReset(make('reset'))).toBe(true);
  expect(isConnectionReset(make('eof'))).toBe(false);
  expect(isProbableEof(make('eof'))).toBe(true);
  expect(isConnectionRefused(make('connect-refused'))).toBe(true);
  expect(isTlsError(make('tls'))).toBe(true);
  expect((['connect-timeout', 'headers-timeout', 'idle-timeout'] as const).every((k) => isTimeoutError(make(k)))).toBe(
    true,
  );
  expect(isTransportError({ [Symbol.for('riata.TransportError')]: true })).toBe(true);
  for (const other of [undefined, null, 'reset', new Error('reset'), { kind: 'reset' }]) {
    expect(isTransportError(other)).toBe(false);
    expect(isConnectionReset(other)).toBe(false);
  }
});

test('a connect error is one that cannot have reached the server', () => {
  expect(isConnectError(make('tls', false))).toBe(true);
  expect(isConnectError(make('reset', false))).toBe(true);
  expect(isConnectError(make('reset', true))).toBe(false);
  expect(isConnectError(make('aborted', false))).toBe(false);
});

test('the code is that of the cause, however deep', () => {
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  expect(errorCode(new AggregateError([refused, refused]))).toBe('ECONNREFUSED');
  expect(errorCode(new Error('outer', { cause: refused }))).toBe('ECONNREFUSED');
  expect(errorCode('text')).toBeUndefined();
  const error = new TransportError('x', { kind: 'connect-refused', requestSent: false, cause: refused });
  expect(error).toMatchObject({ name: 'TransportError', code: 'ECONNREFUSED', cause: refused });
  expect(make('reset').code).toBeUndefined();
});

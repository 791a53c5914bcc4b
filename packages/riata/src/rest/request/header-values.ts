import type { ResponseHeaders } from '../transport/transport.js';

/** All values of a response header, in order. */
export function headerValues(headers: ResponseHeaders, name: string): readonly string[] {
  const value = headers[name];
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

/** The first value of a response header, or `''`. */
export function headerValue(headers: ResponseHeaders, name: string): string {
  return headerValues(headers, name)[0] ?? '';
}

/** The wait asked for by a `Retry-After` header that holds whole seconds, in ms; dates are not taken, as in client-go. */
export function retryAfterMs(headers: ResponseHeaders): number | undefined {
  const value = headerValue(headers, 'retry-after').trim();
  return /^\+?\d{1,9}$/.test(value) ? Number(value) * 1000 : undefined;
}

import { Buffer } from 'node:buffer';

/** The parameters of a request, each with all of its values in order. */
export type Query = ReadonlyMap<string, readonly string[]>;

/**
 * Reads a query as Go's `url.ParseQuery` does: pairs with a bad escape or a semicolon are left out, and bytes that are
 * no UTF-8 become U+FFFD.
 */
export function parseQuery(text: string): Query {
  const query = new Map<string, string[]>();
  for (const pair of text.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = decode(equals < 0 ? '' : pair.slice(equals + 1));
    if (name === undefined || value === undefined) continue;
    const values = query.get(name);
    if (values === undefined) query.set(name, [value]);
    else values.push(value);
  }
  return query;
}

/** The first value of a parameter. */
export function first(query: Query, name: string): string | undefined {
  return query.get(name)?.[0];
}

/** Undefined when an escape is broken. */
export function percentDecode(text: string): string | undefined {
  if (!text.includes('%')) return text;
  if (/%(?![0-9a-fA-F]{2})/.test(text)) return undefined;
  const parts = text.split(/((?:%[0-9a-fA-F]{2})+)/);
  return parts
    .map((part, i) => (i % 2 === 0 ? part : Buffer.from(part.replaceAll('%', ''), 'hex').toString()))
    .join('');
}

function decode(text: string): string | undefined {
  return percentDecode(text.replaceAll('+', ' '));
}

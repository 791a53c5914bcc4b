import { escapePath } from '../../../rest/request/request-path.js';

/** What a URL may hold as it is; everything else is escaped. */
const unsafe = /[^\x21\x24-\x3b\x3d\x3f-\x5a\x5f\x61-\x7a\x7e]+/g;

/** Query parameters of a proxied request. */
export type ProxyQuery = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/**
 * Path and query of a proxied request as they are sent. `path` is that of a URL: its escapes stay, and a query may
 * follow it. Throws a `TypeError` for one that would lead out of the proxied path.
 */
export function proxyPath(path: string, query: ProxyQuery = {}): string {
  const problem = pathProblem(path);
  if (problem !== undefined) throw new TypeError(`client.proxy: the path ${problem}, got ${JSON.stringify(path)}`);
  const [before, given] = splitOnce(path, '?');
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of typeof value === 'object' ? value : [value]) params.append(name, String(one));
  }
  const all = [escaped(given), params.toString()].filter((part) => part !== '').join('&');
  return escaped(before) + (all === '' ? '' : `?${all}`);
}

/**
 * The name in the path of a proxy: `web`, `web:8080` or `https:web:8443`. Throws a `TypeError` unless it is one segment.
 */
export function proxyName(name: string, port: number | string | undefined, scheme: string | undefined): string {
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
    throw new TypeError(`client.proxy: scheme must be "http" or "https", got ${JSON.stringify(scheme)}`);
  }
  if (port !== undefined && !isPort(port)) {
    throw new TypeError(
      `client.proxy: port must be the number or the name of a port, got ${typeof port === 'string' ? JSON.stringify(port) : port}`,
    );
  }
  if (name.includes(':') && (port !== undefined || scheme !== undefined)) {
    throw new TypeError(`client.proxy: the name ${JSON.stringify(name)} has a port already; omit port and scheme`);
  }
  if (scheme !== undefined) return `${scheme}:${name}:${port ?? ''}`;
  return port === undefined ? name : `${name}:${port}`;
}

function isPort(port: number | string): boolean {
  if (typeof port === 'number') return Number.isInteger(port) && port > 0 && port < 65_536;
  return /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(port);
}

function pathProblem(path: string): string | undefined {
  if (!path.startsWith('/')) return 'must start with "/"';
  if (path.includes('#')) return 'must have no fragment; write a "#" as %23';
  const [before] = splitOnce(path, '?');
  let decoded: string;
  try {
    decoded = decodeURIComponent(before);
  } catch {
    return 'holds a "%" that begins no escape of UTF-8; write a bare one as %25';
  }
  // As the server and the target may read it: a backslash is a slash to some.
  if (decoded.split(/[/\\]/).some((segment) => segment === '.' || segment === '..')) {
    return 'must not have "." or ".." in it';
  }
  return undefined;
}

function escaped(text: string): string {
  return text.replace(unsafe, (found) => (found === '%' ? found : escapeKeeping(found)));
}

/** Escapes in place; what is escaped already stays. */
function escapeKeeping(text: string): string {
  return text
    .split('%')
    .map((part) => escapePath(part))
    .join('%');
}

function splitOnce(text: string, mark: string): readonly [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

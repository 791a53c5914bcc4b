import { ipv6Groups } from './ipv6-groups.js';

/** The environment variables that say which proxy to use. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` (or their lower-case forms) name for a server, or undefined
 * for a direct connection (`http.ProxyFromEnvironment`). As in Go, loopback addresses never go through a proxy, and
 * `NO_PROXY` takes host names (with their subdomains), `.suffixes`, addresses, CIDR ranges, each with an optional port,
 * and `*`.
 */
export function proxyFromEnvironment(server: string, environment: ProxyEnvironment): string | undefined {
  const url = new URL(server);
  const variable = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const proxy = read(environment, variable);
  if (!proxy) return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  if (isLoopback(host) || isExcluded(host, port, read(environment, 'NO_PROXY') ?? '')) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function read(environment: ProxyEnvironment, name: string): string | undefined {
  return environment[name] || environment[name.toLowerCase()] || undefined;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function isExcluded(host: string, port: string, list: string): boolean {
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== '' && matches(host, port, entry));
}

function matches(host: string, port: string, entry: string): boolean {
  if (entry === '*') return true;
  if (entry.includes('/')) return inRange(host, entry);
  const [, name = entry, onlyPort] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  if (onlyPort && onlyPort !== port) return false;
  const expected = name.replace(/^\[|\]$/g, '').replace(/^\*\./, '.');
  const address = toBits(expected);
  if (address !== undefined) return address === toBits(host);
  return expected.startsWith('.') ? host.endsWith(expected) : host === expected || host.endsWith(`.${expected}`);
}

function inRange(host: string, range: string): boolean {
  const [base = '', bits = ''] = range.split('/');
  const address = toBits(host);
  const network = toBits(base);
  // A malformed range matches nothing, as in Go; a missing length must not mean all of the Internet.
  const length = /^\d{1,3}$/.test(bits) ? Number(bits) : Number.POSITIVE_INFINITY;
  if (!address || !network || address.length !== network.length || length > address.length) return false;
  return address.slice(0, length) === network.slice(0, length);
}

/** An IPv4 or IPv6 address as a string of 32 or 128 ones and zeros. */
function toBits(address: string): string | undefined {
  if (/^\d+\.\d+\.\d+\.\d+$/.test(address)) return join(address.split('.').map(Number), 8);
  if (!address.includes(':')) return undefined;
  try {
    return join(ipv6Groups(address), 16);
  } catch {
    return undefined;
  }
}

const join = (numbers: readonly number[], width: number) =>
  numbers.map((number) => number.toString(2).padStart(width, '0')).join('');

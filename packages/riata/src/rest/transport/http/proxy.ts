import { ConnectFailure } from './connect-failure.js';
import { ipv6Groups } from './ipv6-groups.js';

/** A proxy as its URL describes it. */
export interface ProxyServer {
  readonly kind: 'http' | 'https' | 'socks5';
  readonly host: string;
  readonly port: number;
  readonly user?: string;
  readonly password?: string;
}

const defaultPorts = { http: 80, https: 443, socks5: 1080 } as const;

/** Reads `proxy-url`. Refuses what it does not know without repeating the URL's password. */
export function parseProxy(text: string): ProxyServer {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const kind = url && kindOf(url);
  const problem = proxyProblem(text);
  if (problem !== undefined || url === undefined || kind === undefined) throw new TypeError(`proxy-url ${problem}`);
  return {
    kind,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port ? Number(url.port) : defaultPorts[kind],
    ...(url.username ? { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) } : {}),
  };
}

/** The problem of the URL of a proxy, or undefined; never quotes its user and password. */
export function proxyProblem(text: string): string | undefined {
  const expected = 'must be a URL that starts with http://, https:// or socks5://';
  if (!URL.canParse(text)) return `${expected}, got something that is not a URL`;
  const url = new URL(text);
  if (kindOf(url) === undefined) return `${expected}, got one with "${url.protocol}//"`;
  if (url.hostname === '') return `${expected} and names a host`;
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    return 'has a "%" in its user or password that does not start an escape; write it as %25';
  }
  return undefined;
}

function kindOf({ protocol }: URL): ProxyServer['kind'] | undefined {
  // As in Go, socks5 lets the proxy resolve names, which is what others call socks5h.
  const kind = protocol.slice(0, -1).replace('socks5h', 'socks5');
  return kind === 'http' || kind === 'https' || kind === 'socks5' ? kind : undefined;
}

/** The value of `Proxy-Authorization`, if the proxy's URL names a user. */
export function proxyAuthorization({ user, password }: ProxyServer): string | undefined {
  if (user === undefined) return undefined;
  return `Basic ${Buffer.from(`${user}:${password ?? ''}`).toString('base64')}`;
}

/** `host:port` as it stands in a URL or a CONNECT line. */
export function hostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The part of the socket to the proxy that a tunnel needs. */
export interface TunnelSocket {
  write(bytes: string | Uint8Array): void;
  /** Resolves to exactly `length` bytes, leaving the rest unread. */
  read(length: number): Promise<Uint8Array>;
  /** Resolves to all bytes up to and with `end`, leaving the rest unread. */
  readUntil(end: string, maxLength: number): Promise<Uint8Array>;
}

/** Asks the proxy for a tunnel to the target; when it resolves, the socket speaks with the target. */
export async function openTunnel(
  socket: TunnelSocket,
  proxy: ProxyServer,
  target: { host: string; port: number },
): Promise<void> {
  if (proxy.kind === 'socks5') await socks5(socket, proxy, target);
  else await httpConnect(socket, proxy, target);
}

async function httpConnect(
  socket: TunnelSocket,
  proxy: ProxyServer,
  target: { host: string; port: number },
): Promise<void> {
  const authority = hostPort(target.host, target.port);
  const authorization = proxyAuthorization(proxy);
  socket.write(
    `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization ? `Proxy-Authorization: ${authorization}\r\n` : ''}\r\n`,
  );
  const head = Buffer.from(await socket.readUntil('\r\n\r\n', 64 * 1024)).toString('latin1');
  const [, status, reason = ''] = /^HTTP\/1\.[01] (\d{3}) ?([^\r\n]*)/.exec(head) ?? [];
  const name = `the proxy ${hostPort(proxy.host, proxy.port)}`;
  if (!status) throw new ConnectFailure('proxy', `${name} did not answer CONNECT with HTTP; is proxy-url right?`);
  if (status.startsWith('2')) return;
  const hint = status === '407' ? '; put user and password into proxy-url' : '';
  throw new ConnectFailure('proxy', `${name} refused a tunnel to ${authority}: ${status} ${reason}`.trimEnd() + hint);
}

const socksReplies = [
  'success',
  'general failure',
  'not allowed by its rules',
  'network unreachable',
  'host unreachable',
  'connection refused',
  'time to live expired',
  'command not supported',
  'address type not supported',
] as const;

/** RFC 1928, with user and password by RFC 1929. */
async function socks5(socket: TunnelSocket, proxy: ProxyServer, target: { host: string; port: number }): Promise<void> {
  const name = `the SOCKS proxy ${hostPort(proxy.host, proxy.port)}`;
  const fail = (what: string) => new ConnectFailure('proxy', `${name} ${what}`);
  const withPassword = proxy.user !== undefined;
  socket.write(Uint8Array.from(withPassword ? [5, 2, 0, 2] : [5, 1, 0]));
  const [version, method] = await socket.read(2);
  if (version !== 5) throw fail('does not speak SOCKS version 5; is proxy-url right?');
  if (method === 2 && withPassword) {
    socket.write(Buffer.concat([Uint8Array.of(1), counted(proxy.user ?? ''), counted(proxy.password ?? '')]));
    const [, status] = await socket.read(2);
    if (status !== 0) throw fail('did not accept user and password of proxy-url');
  } else if (method !== 0) {
    throw fail('requires an authentication method that proxy-url does not provide');
  }
  const port = Uint8Array.of(target.port >> 8, target.port & 0xff);
  // A name goes as it is: the proxy resolves it.
  socket.write(Buffer.concat([Uint8Array.of(5, 1, 0), address(target.host), port]));
  const [, reply = 1, , kind] = await socket.read(4);
  if (reply !== 0) {
    throw fail(`could not reach ${hostPort(target.host, target.port)}: ${socksReplies[reply] ?? `reply ${reply}`}`);
  }
  const length = kind === 1 ? 4 : kind === 4 ? 16 : ((await socket.read(1))[0] ?? 0);
  await socket.read(length + 2);
}

function counted(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length > 255)
    throw new ConnectFailure('proxy', 'SOCKS allows at most 255 bytes for a name, user or password');
  return Buffer.concat([Uint8Array.of(bytes.length), bytes]);
}

function address(host: string): Buffer {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(host)) return Buffer.from([1, ...host.split('.').map(Number)]);
  if (host.includes(':')) return Buffer.from([4, ...ipv6Groups(host).flatMap((group) => [group >> 8, group & 0xff])]);
  return Buffer.concat([Uint8Array.of(3), counted(host)]);
}

import type { RestConfig } from './rest-config.js';

const inspectCustom = Symbol.for('nodejs.util.inspect.custom');

/** The parts of a configuration that may be shown. */
function shown(this: RestConfig): Record<string, unknown> {
  const { server, proxyUrl, credentials, transport, namespace, tlsServerName, impersonate, userAgent } = this;
  const { insecureSkipTlsVerify, disableCompression, qps, burst } = this;
  const view = {
    server: withoutUserInfo(server),
    namespace,
    credentials: credentials && (hasToJson(credentials) ? credentials.toJSON() : '[credentials]'),
    tlsServerName,
    insecureSkipTlsVerify,
    proxyUrl: proxyUrl === undefined ? undefined : withoutUserInfo(proxyUrl),
    disableCompression,
    impersonate,
    userAgent,
    qps,
    burst,
    transport: transport && '[transport]',
  };
  return Object.fromEntries(Object.entries(view).filter(([, value]) => value !== undefined));
}

function text(this: RestConfig): string {
  return `RestConfig ${JSON.stringify(shown.call(this))}`;
}

/**
 * A frozen copy that prints (as JSON, as text, in a log, in a debugger's inspect) without secrets. Own properties do
 * it, so that `{ ...config, userAgent: 'x' }` prints as safely.
 */
export function printable(config: RestConfig): RestConfig {
  const defined = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
  return Object.freeze({ ...defined, server: config.server, toJSON: shown, toString: text, [inspectCustom]: shown });
}

/** A URL without user name and password. A malformed URL is not shown at all: it may be a secret. */
export function withoutUserInfo(url: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(url) || !URL.canParse(url)) return '[not a URL]';
  const { protocol, host, pathname, username, password } = new URL(url);
  const user = username === '' && password === '' ? '' : '[redacted]@';
  return `${protocol}//${user}${host}${pathname === '/' ? '' : pathname}`;
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

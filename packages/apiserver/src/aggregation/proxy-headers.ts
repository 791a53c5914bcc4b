import type { UserInfo } from '../authentication/user-info.js';

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Headers that are about one connection alone. */
const ofConnection: ReadonlySet<string> = new Set([
  ...['connection', 'proxy-connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade'],
]);

/**
 * The headers of a request that is handed on: who asks is said by those of a front proxy, and credentials stay here
 * (`transport.SetAuthProxyHeaders`).
 */
export function proxyHeaders(given: Readonly<Record<string, string | undefined>>, user: UserInfo): Headers {
  const headers: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && !isOwn(name)) headers[name] = value;
  }
  return { ...headers, ...userHeaders(user) };
}

/** Who asks, as a front proxy says it. */
export function userHeaders({ username, uid, groups = [], extra = {} }: UserInfo): Headers {
  const extras = Object.entries(extra).map(([key, values]) => [`x-remote-extra-${escapedKey(key)}`, values]);
  return {
    'x-remote-user': username,
    ...(uid ? { 'x-remote-uid': uid } : {}),
    ...(groups.length === 0 ? {} : { 'x-remote-group': groups }),
    ...Object.fromEntries(extras),
  };
}

/** The headers of an answer that is handed on. */
export function answerHeaders(given: Headers): Headers {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !ofConnection.has(name)));
}

function isOwn(name: string): boolean {
  if (ofConnection.has(name) || name === 'host' || name === 'content-length' || name === 'authorization') return true;
  return name.startsWith('x-remote-') || name.startsWith('impersonate-');
}

/** Keys of extra values may have characters that the name of a header cannot have. */
function escapedKey(key: string): string {
  return [...Buffer.from(key)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      const isPlain = /[!#$&'*+\-.^_`|~0-9A-Za-z]/.test(character);
      return isPlain ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}

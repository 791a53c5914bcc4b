/**
 * The address of a server as a config has it. Throws a `TypeError` for one that cannot work, without what may be a
 * password.
 */
export function serverAddress(server: string): URL {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    // Cut where a password could be.
    throw new TypeError(`server wants a URL such as https://host:6443, got "${server.replace(/^.*@/s, '…@')}"`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(
      `server ${url.origin} may not hold a user name or password; give them as credentials: staticCredentials({ basic })`,
    );
  }
  return url;
}

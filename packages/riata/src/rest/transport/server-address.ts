/**
 * The address of a server as a config has it. Throws a `TypeError` for one that cannot work, without what may be a
 * password.
 */
export function serverAddress(server: string): URL {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    // Cut where a password could be.
    throw new TypeError(`server must be a URL such as https://host:6443, got "${server.replace(/^.*@/s, '…@')}"`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(
      `server ${url.origin} must not contain a user name or password; set credentials instead: staticCredentials({ basic })`,
    );
  }
  return url;
}

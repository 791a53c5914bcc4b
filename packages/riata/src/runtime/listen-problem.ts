/** Why a server cannot listen on its address, and what to do about it; for the message of an error. */
export function listenProblem(
  error: Error,
  { host = '*', port }: { readonly host?: string; readonly port: number },
): string {
  const { code } = error as Error & { readonly code?: string };
  const remedy = code === undefined ? undefined : remedies[code];
  const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  return `cannot listen on ${address}: ${remedy === undefined ? error.message : `${remedy} (${code})`}`;
}

const remedies: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process does already; end that one, or take another port, 0 for any that is free',
  EACCES: 'this user may not; take a port from 1024 up',
  EADDRNOTAVAIL: 'this machine does not have that address',
};

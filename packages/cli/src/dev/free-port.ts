import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A port that is free now. `port` 0: any; `host`: an address of this machine. @default all interfaces */
export async function freePort({ port = 0, host }: { readonly port?: number; readonly host?: string } = {}) {
  const server = createServer().listen({ port, ...(host && { host }) });
  await once(server, 'listening');
  const found = (server.address() as AddressInfo).port;
  server.close();
  await once(server, 'close');
  return found;
}

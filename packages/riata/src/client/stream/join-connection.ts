import type { Socket } from 'node:net';
import type { PortConnection } from './port-tunnel.js';

/**
 * Joins a local socket and a connection to a port: passes on both directions, each ends by itself. Rejects if one breaks,
 * or if the node complains.
 */
export async function joinConnection(socket: Socket, { data, checked }: PortConnection): Promise<void> {
  const up = async () => {
    // An ended input must not destroy the socket: the other direction is still open.
    for await (const bytes of socket.iterator({ destroyOnReturn: false })) await data.write(bytes as Uint8Array);
    data.end();
  };
  const down = async () => {
    // One listener each for the whole connection: one for each wait would stay until the end.
    let goOn = () => {};
    socket.on('drain', () => goOn()).on('close', () => goOn());
    for await (const bytes of data.input) {
      if (socket.destroyed) return;
      if (socket.write(bytes)) continue;
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
    }
    socket.end();
  };
  try {
    // A local side that breaks off is no failure of the forward.
    const local = up().catch(() => data.reset());
    await Promise.all([down(), checked]);
    await local;
  } catch (error) {
    data.reset();
    // The complaint says more than the reset that follows it.
    await checked;
    throw error;
  }
}

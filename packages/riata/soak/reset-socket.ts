import type { Socket } from 'node:net';

/** Cuts a connection by a RST. One that is being shut down is closed: there, Node's own way fails, and leaves the socket open for good. */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

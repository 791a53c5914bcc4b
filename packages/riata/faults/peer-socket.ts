import { subscribe } from 'node:diagnostics_channel';
import type * as net from 'node:net';

/** Sockets that this process has opened as a client and not closed yet. */
const clients = new Set<net.Socket>();

subscribe('net.client.socket', (message) => {
  const { socket } = message as { readonly socket: net.Socket };
  clients.add(socket.once('close', () => clients.delete(socket)));
});

/** The other end of a connection that this process has with itself. */
export function peerSocket(socket: net.Socket): net.Socket | undefined {
  return [...clients].find(({ localPort }) => localPort !== undefined && localPort === socket.remotePort);
}

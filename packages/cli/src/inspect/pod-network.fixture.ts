import { connect } from 'node:net';
import type { ContainerRuntime } from '@riata/apiserver';

type Connection = Parameters<NonNullable<ContainerRuntime['connect']>>[2];

/** The network of a Pod whose only process is on this machine: joins a connection of a port-forward with a port here. */
export async function joinLocalPort(port: number, { input, write, signal }: Connection): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const end = () => socket.destroy();
  signal.addEventListener('abort', end, { once: true });
  const up = async () => {
    for await (const bytes of input) socket.write(bytes);
    socket.end();
  };
  try {
    const sent = up().catch(end);
    for await (const bytes of socket) await write(bytes as Uint8Array);
    await sent;
  } finally {
    signal.removeEventListener('abort', end);
    socket.destroy();
  }
}

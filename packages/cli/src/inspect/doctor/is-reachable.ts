import { connect } from 'node:net';

/** Whether a server accepts connections at a URL, within five seconds. */
export function isReachable({ hostname, port, protocol }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = connect({ host, port: Number(port || (protocol === 'https:' ? 443 : 80)) }, () => {
      resolve(true);
      socket.destroy();
    });
    socket.setTimeout(5_000, () => socket.destroy());
    socket.on('error', () => resolve(false)).on('close', () => resolve(false));
  });
}

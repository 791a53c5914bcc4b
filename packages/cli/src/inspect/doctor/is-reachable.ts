import { connect } from 'node:net';
import type { Scheduler } from 'riata/runtime';

/** Whether a server accepts connections at a URL, within five seconds. */
export function isReachable({ hostname, port, protocol }: URL, clock: Pick<Scheduler, 'after'>): Promise<boolean> {
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = connect({ host, port: Number(port || (protocol === 'https:' ? 443 : 80)) }, () => {
      resolve(true);
      socket.destroy();
    });
    const timer = clock.after(5_000, () => socket.destroy());
    socket.on('error', () => resolve(false));
    socket.on('close', () => {
      timer.cancel();
      resolve(false);
    });
  });
}

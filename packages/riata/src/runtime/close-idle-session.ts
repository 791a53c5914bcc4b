import type { Http2Session, Http2Stream } from 'node:http2';
import type { Scheduler, Timer } from './time/clock.js';

/**
 * Closes an HTTP/2 session that has had no request for `idleMs`. A session with a request is not idle: a watch may be
 * silent for long.
 */
export function closeIdleSession(session: Http2Session, clock: Scheduler, idleMs: number): void {
  let open = 0;
  let timer: Timer | undefined;
  const wait = () => {
    timer = clock.after(idleMs, () => session.close(), { background: true });
  };
  session.on('stream', (stream: Http2Stream) => {
    open += 1;
    timer?.cancel();
    stream.once('close', () => {
      open -= 1;
      if (open === 0 && !session.closed) wait();
    });
  });
  session.once('close', () => timer?.cancel());
  wait();
}

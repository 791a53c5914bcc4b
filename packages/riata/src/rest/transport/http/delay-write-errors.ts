import type { Socket } from 'node:net';
import type { Scheduler } from '../../../runtime/time/clock.js';

type Done = (error?: Error | null) => void;

/** What Node calls to write, of which the last argument is called when that is done. */
interface Writes {
  _write(chunk: unknown, encoding: string, done: Done): void;
  _writev?(chunks: unknown, done: Done): void;
}

/** Turns of the event loop in which what has come is read. */
const turns = 3;

/**
 * Reads what has come before a failed write ends the connection. A server that has said all closes the connection even
 * if it has not read all: the next write then fails, and Node destroys the socket at once, with the last words of the
 * server unread, such as the exit code of a command.
 */
export function delayWriteErrors(socket: Socket, clock: Scheduler): void {
  const writes = socket as unknown as Writes;
  const delayed = (done: Done) => (error?: Error | null) => {
    if (!error) done();
    else void later(clock, () => done(error));
  };
  const { _write, _writev } = writes;
  writes._write = (chunk, encoding, done) => _write.call(socket, chunk, encoding, delayed(done));
  if (_writev !== undefined && _writev !== null) {
    writes._writev = (chunks, done) => _writev.call(socket, chunks, delayed(done));
  }
}

async function later(clock: Scheduler, then: () => void): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await clock.yield();
  then();
}

import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { VirtualClock } from '../../../runtime/time/virtual-clock.js';
import { delayWriteErrors } from './delay-write-errors.js';

type Done = (error?: Error | null) => void;

/** A socket whose peer has sent its last words and closed; they are read in the next turn of the event loop. */
function closedByPeer(outcome: Error | null, hasWritev = false) {
  const events: string[] = [];
  const write = (_chunk: unknown, _encoding: string, done: Done) => done(outcome);
  const writev = (_chunks: unknown, done: Done) => done(outcome);
  const socket = new Duplex({ read() {}, ...(hasWritev ? { writev } : { write }) });
  delayWriteErrors(socket as Socket, new VirtualClock());
  socket.on('data', (bytes) => events.push(String(bytes)));
  socket.on('error', ({ message }) => events.push(message));
  const closed = new Promise((resolve) => socket.on('close', resolve));
  setImmediate(() => socket.push('exit code 3'));
  return { socket, events, closed };
}

test('a failed write ends the connection after what has come was read', async () => {
  const { socket, events, closed } = closedByPeer(new Error('EPIPE'));
  socket.write('input');
  await closed;
  expect(events).toEqual(['exit code 3', 'EPIPE']);
});

test('so does one of several pieces', async () => {
  const { socket, events, closed } = closedByPeer(new Error('EPIPE'), true);
  socket.cork();
  socket.write('some');
  socket.write('input');
  socket.uncork();
  await closed;
  expect(events).toEqual(['exit code 3', 'EPIPE']);
});

test('writes that succeed are not delayed', () => {
  const { socket } = closedByPeer(null);
  socket.write('input');
  expect(socket.writableLength).toBe(0);
  socket.destroy();
});

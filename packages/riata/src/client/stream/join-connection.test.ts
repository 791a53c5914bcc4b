import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { SpdySession, type SpdyStream } from '../../runtime/spdy/spdy-session.js';
import { joinConnection } from './join-connection.js';

/** A stream to a Pod, and the Pod's end of it. */
function openStream(): { near: SpdyStream; far: SpdyStream } {
  const opened: SpdyStream[] = [];
  const port = (other: () => SpdySession) => ({
    write: (bytes: Uint8Array) => {
      other().received(Uint8Array.from(bytes));
      return true;
    },
    pause: () => {},
    resume: () => {},
    onStream: (stream: SpdyStream) => void opened.push(stream),
  });
  const client: SpdySession = new SpdySession(
    'client',
    port(() => server),
  );
  const server: SpdySession = new SpdySession(
    'server',
    port(() => client),
  );
  return { near: client.open({ streamtype: 'data' }), far: opened[0] as SpdyStream };
}

test('waits for a slow local side without piling up listeners', async () => {
  const { near, far } = openStream();
  const written: Buffer[] = [];
  let mostListeners = 0;
  const socket = new Duplex({
    highWaterMark: 1,
    read() {},
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk);
      mostListeners = Math.max(mostListeners, socket.listenerCount('close'));
      setImmediate(done);
    },
  });
  const joined = joinConnection(socket as Socket, { data: near, checked: Promise.resolve() });
  for (let i = 0; i < 40; i++) await far.write(Buffer.alloc(10, i));
  far.end();
  socket.push(null);
  await joined;
  expect(Buffer.concat(written)).toEqual(Buffer.concat(Array.from({ length: 40 }, (_, i) => Buffer.alloc(10, i))));
  expect(mostListeners).toBeLessThan(5);
});

test('a local side that is gone ends the wait', async () => {
  const { near, far } = openStream();
  const socket = new Duplex({ highWaterMark: 1, read() {}, write: () => {} });
  const joined = joinConnection(socket as Socket, { data: near, checked: Promise.resolve() });
  await far.write(Buffer.from('one'));
  await far.write(Buffer.from('two'));
  await new Promise((resolve) => setImmediate(resolve));
  socket.destroy();
  await joined;
  await expect(far.input.next()).rejects.toThrow('reset');
});

import { EventEmitter } from 'node:events';
import type { Http2Session } from 'node:http2';
import { expect, test } from 'vitest';
import { closeIdleSession } from './close-idle-session.js';
import { VirtualClock } from './time/virtual-clock.js';

class Session extends EventEmitter {
  closed = false;

  close(): void {
    this.closed = true;
    this.emit('close');
  }

  open(): EventEmitter {
    const stream = new EventEmitter();
    this.emit('stream', stream);
    return stream;
  }
}

function started() {
  const clock = new VirtualClock();
  const session = new Session();
  closeIdleSession(session as unknown as Http2Session, clock, 1_000);
  return { clock, session };
}

test('a session that never had a request is closed', async () => {
  const { clock, session } = started();
  await clock.advance(999);
  expect(session.closed).toBe(false);
  await clock.advance(1);
  expect(session.closed).toBe(true);
});

test('a session with a request is not idle; afterwards it is', async () => {
  const { clock, session } = started();
  await clock.advance(500);
  const [first, second] = [session.open(), session.open()];
  await clock.advance(5_000);
  first.emit('close');
  await clock.advance(5_000);
  expect(session.closed).toBe(false);
  second.emit('close');
  await clock.advance(999);
  expect(session.closed).toBe(false);
  await clock.advance(1);
  expect(session.closed).toBe(true);
});

test('a session that has ended leaves no timer', async () => {
  const { clock, session } = started();
  const stream = session.open();
  session.close();
  stream.emit('close');
  session.closed = false;
  await clock.advance(5_000);
  expect(session.closed).toBe(false);
});

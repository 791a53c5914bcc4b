import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { LentReads } from './lent-reads.js';

/** A socket that is read by hand: `arrive` is what Node does with bytes from the kernel. */
function setUp() {
  const reads = new LentReads(true);
  const socket = new Socket();
  let starts = 0;
  socket._read = () => {
    starts++;
  };
  reads.attach(socket);
  const { buffer, callback } = reads.onread;
  const arrive = (text: string) => {
    buffer.set(Buffer.from(text));
    return callback(text.length);
  };
  return { reads, socket, buffer, arrive, starts: () => starts };
}

test('while lending, bytes are handed out in place and at once', () => {
  const { reads, socket, buffer, arrive } = setUp();
  const seen: string[] = [];
  socket.on('readable', () => {
    for (let chunk: Buffer | null = socket.read(); chunk !== null; chunk = socket.read()) {
      expect(chunk.buffer).toBe(buffer.buffer);
      seen.push(chunk.toString());
    }
  });
  reads.lend(true);
  expect(arrive('one')).toBe(true);
  expect(arrive('and two')).toBe(true);
  expect(seen).toEqual(['one', 'and two']);
  expect(socket.readableLength).toBe(0);
});

test('otherwise they are copied into the queue', () => {
  const { socket, buffer, arrive } = setUp();
  expect(arrive('one')).toBe(true);
  expect(arrive('two')).toBe(true);
  buffer.fill(0);
  expect(String(socket.read())).toBe('onetwo');
});

test('what nobody takes is kept, in order, and so is what comes after it', () => {
  const { reads, socket, buffer, arrive } = setUp();
  reads.lend(true);
  expect(arrive('one')).toBe(true);
  expect(arrive('two')).toBe(true);
  buffer.fill(0);
  expect(String(socket.read())).toBe('onetwo');
  expect(socket.read()).toBeNull();
});

test('what is given back is copied; reading stops, and begins again once all of it is taken', () => {
  const { reads, socket, buffer, arrive, starts } = setUp();
  let paused = true;
  const seen: string[] = [];
  const readMore = () => {
    for (let chunk: Buffer | null = socket.read(); chunk !== null; chunk = socket.read()) {
      seen.push(chunk.subarray(0, 3).toString());
      if (chunk.length > 3) socket.unshift(chunk.subarray(3));
      if (paused) return;
    }
  };
  socket.on('readable', readMore);
  reads.lend(true);
  expect(arrive('onetwo')).toBe(false);
  buffer.fill(0);
  expect(arrive('six')).toBe(true);
  buffer.fill(0);
  expect(seen).toEqual(['one']);
  paused = false;
  const before = starts();
  readMore();
  expect(seen.join('')).toBe('onetwosix');
  readMore();
  expect(starts()).toBeGreaterThan(before);
  expect(arrive('ten')).toBe(true);
  expect(seen.at(-1)).toBe('ten');
});

test('a reader that ends the socket ends the reading', () => {
  const { reads, socket, arrive } = setUp();
  socket.on('readable', () => socket.destroy());
  reads.lend(true);
  expect(arrive('one')).toBe(false);
  expect(arrive('two')).toBe(false);
  expect(socket.destroyed).toBe(true);
});

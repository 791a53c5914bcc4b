import { Buffer } from 'node:buffer';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { VirtualClock } from '../../../runtime/time/virtual-clock.js';
import { BlockReader } from './block-reader.js';

/** A reader with a socket that is fed by hand, as Node does with `onread`. */
function started(hasRoom: () => boolean = () => true) {
  const clock = new VirtualClock();
  const pieces: Buffer[] = [];
  const reader = new BlockReader((bytes) => {
    pieces.push(bytes);
    return hasRoom();
  }, clock);
  let pauses = 0;
  const socket = Object.assign(new EventEmitter(), { pause: () => (pauses += 1) });
  reader.attach(socket as unknown as Socket);
  const receive = (text: string): boolean => {
    let isReading = true;
    for (let rest = Buffer.from(text); rest.length > 0; ) {
      const count = rest.copy(reader.buffer());
      rest = rest.subarray(count);
      isReading = reader.callback(count);
    }
    return isReading;
  };
  return { clock, socket, receive, texts: () => pieces.map(String), pauses: () => pauses };
}

test('hands out what comes in one turn of the event loop at once', async () => {
  const { clock, receive, texts } = started();
  receive('one ');
  receive('two');
  expect(texts()).toEqual([]);
  await clock.settle();
  expect(texts()).toEqual(['one two']);
  receive('three');
  await clock.settle();
  expect(texts()).toEqual(['one two', 'three']);
});

test('never writes over what was handed out, and hands out a full block without waiting', async () => {
  const { clock, receive, texts } = started();
  const sent = Array.from({ length: 100 }, (_, i) => `${i},`.repeat(3_000));
  for (const text of sent) receive(text);
  expect(texts().length).toBeGreaterThan(1);
  await clock.settle();
  expect(texts().join('')).toBe(sent.join(''));
});

test.each(['end', 'error', 'close'])('hands out what came before "%s"', (event) => {
  const { socket, receive, texts } = started();
  const seen: string[] = [];
  socket.on(event, () => seen.push(...texts(), event));
  receive('last words');
  socket.emit(event);
  expect(seen).toEqual(['last words', event]);
});

test('stops reading for a reader that has no room', async () => {
  const { clock, receive, pauses } = started(() => false);
  expect(receive('a')).toBe(true);
  await clock.settle();
  expect(pauses()).toBe(1);
  // The rest of the block.
  expect(receive('b'.repeat(256 * 1024 - 1))).toBe(false);
});

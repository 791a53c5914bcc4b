import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { systemClock, VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { WriteBatch } from './write-batch.js';

/** Notes what reaches the system, one line for each call. */
class Wire extends Writable {
  readonly calls: string[] = [];

  constructor() {
    super({ highWaterMark: 100 });
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.calls.push(chunk.toString());
    done();
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.calls.push(chunks.map(({ chunk }) => chunk.toString()).join('+'));
    done();
  }

  get socket(): Socket {
    return this as unknown as Socket;
  }
}

test('what is written to a socket in one turn goes out in one go, after it', async () => {
  const batch = new WriteBatch(systemClock);
  const [a, b] = [new Wire(), new Wire()];
  for (const text of ['1', '2', '3']) batch.write(a.socket, Buffer.from(text));
  batch.write(b.socket, Buffer.from('x'));
  expect([a.calls, b.calls]).toEqual([[], []]);
  await systemClock.yield();
  expect([a.calls, b.calls]).toEqual([['1+2+3'], ['x']]);
  batch.write(a.socket, Buffer.from('4'));
  await systemClock.yield();
  expect(a.calls).toEqual(['1+2+3', '4']);
});

test('something long goes out at once, but not before what was held', async () => {
  const batch = new WriteBatch(systemClock);
  const long = 'x'.repeat(20_000);
  const [a, b] = [new Wire(), new Wire()];
  batch.write(a.socket, Buffer.from(long));
  expect(a.calls).toEqual([long]);
  batch.write(b.socket, Buffer.from('1'));
  batch.write(b.socket, Buffer.from(long));
  await systemClock.yield();
  expect(b.calls).toEqual([`1+${long}`]);
});

test('says when a peer does not keep up', () => {
  const batch = new WriteBatch(new VirtualClock());
  const wire = new Wire();
  expect(batch.write(wire.socket, Buffer.alloc(60))).toBe(true);
  expect(batch.write(wire.socket, Buffer.alloc(60))).toBe(false);
});

test('lets others go on while it writes to very many', async () => {
  const batch = new WriteBatch(systemClock);
  const wires = Array.from({ length: 500 }, () => new Wire());
  for (const wire of wires) batch.write(wire.socket, Buffer.from('x'));
  const written = () => wires.filter(({ calls }) => calls.length > 0).length;
  const counts: number[] = [];
  for (let turn = 0; turn < 4; turn++) {
    counts.push(written());
    await systemClock.yield();
  }
  expect(counts[0]).toBe(0);
  expect(counts).toContain(200);
  while (written() < 500) await systemClock.yield();
  expect(new Set(wires.map(({ calls }) => calls.join()))).toEqual(new Set(['x']));
});

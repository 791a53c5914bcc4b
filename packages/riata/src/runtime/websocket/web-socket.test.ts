import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../time/virtual-clock.js';
import { encodeFrame } from './encode-frame.js';
import { applyMask, FrameError, FrameParser, opcodes } from './frame-parser.js';
import { webSocketAccept, webSocketKey } from './handshake.js';
import { type WebSocketEnd, WebSocketLink } from './web-socket.js';

function parse(bytes: Uint8Array, cuts: readonly number[], masked: boolean) {
  const messages: Buffer[] = [];
  const controls: string[] = [];
  let current: Buffer[] = [];
  const parser = new FrameParser(
    {
      onPiece: (piece, { first, last }) => {
        if (first) current = [];
        current.push(Buffer.from(piece));
        if (last) messages.push(Buffer.concat(current));
      },
      onControl: (opcode, payload) => void controls.push(`${opcode} ${Buffer.from(payload)}`),
    },
    { masked },
  );
  let from = 0;
  for (const cut of [...cuts.map((n) => n % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    parser.feed(bytes.slice(from, cut));
    from = Math.max(from, cut);
  }
  return { messages, controls, isWithin: parser.isWithin };
}

describe('frames', () => {
  test('come out as they went in, however they are cut', () => {
    const payload = fc.uint8Array({ maxLength: 70_000 });
    fc.assert(
      fc.property(fc.array(payload, { maxLength: 4 }), fc.array(fc.nat()), fc.boolean(), (payloads, cuts, masked) => {
        const mask = masked ? Uint8Array.of(1, 200, 3, 77) : undefined;
        const before = payloads.map((one) => Buffer.from(one).toString('hex'));
        const frames = payloads.flatMap((one) => [
          encodeFrame(opcodes.ping, Buffer.from('p'), { mask }),
          encodeFrame(opcodes.binary, one, { prefix: 7, mask }),
        ]);
        const { messages, controls, isWithin } = parse(Buffer.concat(frames), cuts, masked);
        expect(messages.map((one) => one.toString('hex'))).toEqual(before.map((hex) => `07${hex}`));
        expect(controls).toEqual(payloads.map(() => '9 p'));
        expect(isWithin).toBe(false);
        expect(payloads.map((one) => Buffer.from(one).toString('hex'))).toEqual(before);
      }),
      { numRuns: 60 },
    );
  });

  test('a mask is the same applied at once or in parts, at any place in memory', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(7), fc.nat(40), (bytes, offset, cut) => {
        const mask = Uint8Array.of(9, 8, 7, 6);
        const memory = new Uint8Array(bytes.length + offset);
        memory.set(bytes, offset);
        const there = memory.subarray(offset);
        const at = applyMask(there.subarray(0, cut), mask);
        applyMask(there.subarray(cut), mask, at);
        expect([...there]).toEqual([...bytes].map((byte, i) => byte ^ (mask[i % 4] as number)));
      }),
    );
  });

  test('a message in fragments, with a ping between them', () => {
    const first = encodeFrame(opcodes.binary, Buffer.from('ab'));
    first[0] = opcodes.binary;
    const bytes = Buffer.concat([
      ...[first, encodeFrame(opcodes.ping, Buffer.from('x'))],
      encodeFrame(opcodes.continuation, Buffer.from('c')),
    ]);
    expect(parse(bytes, [3, 4], false)).toMatchObject({ messages: [Buffer.from('abc')], controls: ['9 x'] });
  });

  test.each([
    ['a reserved bit', [0xc2, 0]],
    ['an unknown opcode', [0x83, 0]],
    ['a mask of a server', [0x82, 0x80, 1, 2, 3, 4]],
    ['a continuation without a message', [0x80, 0]],
    ['a long ping', [0x89, 126, 0, 200]],
    ['a fragmented close', [0x08, 0]],
    ['a length beyond 2^53', [0x82, 127, 255, 255, 255, 255, 255, 255, 255, 255]],
  ])('%s is refused', (_, bytes) => {
    expect(() => parse(Uint8Array.from(bytes), [], false)).toThrow(FrameError);
  });
});

test('the answer to a key is that of RFC 6455', () => {
  expect(webSocketAccept('dGhlIHNhbXBsZSBub25jZQ==')).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
  expect(Buffer.from(webSocketKey(), 'base64')).toHaveLength(16);
});

/** Two ends, joined in memory. */
function pair(clock: VirtualClock, pingMs = 15_000) {
  const seen: string[] = [];
  const links: WebSocketLink[] = [];
  const make = (role: 'client' | 'server', other: number) => {
    const name = role;
    const port = {
      write: (bytes: Uint8Array) => {
        queueMicrotask(() => links[other]?.received(Uint8Array.from(bytes)));
        return true;
      },
      end: () => seen.push(`${name} end`),
      pause: () => {},
      resume: () => {},
      destroy: () => seen.push(`${name} destroyed`),
    };
    const onEnd = (end: WebSocketEnd) =>
      seen.push('error' in end ? `${name} failed: ${(end.error as Error).message}` : `${name} closed: ${end.code}`);
    const onPiece = (piece: Uint8Array) => seen.push(`${name} got ${Buffer.from(piece)}`);
    return new WebSocketLink(port, { onPiece, onDrain: () => {}, onEnd }, { role, clock, pingMs });
  };
  links.push(make('client', 1), make('server', 0));
  const [client, server] = links as [WebSocketLink, WebSocketLink];
  /** The server neither reads nor writes any more. */
  const silence = () => {
    links.length = 1;
    server.destroy();
    seen.length = 0;
  };
  return { seen, silence, client, server };
}

describe('a link', () => {
  test('carries messages, answers pings, and closes in order', async () => {
    const clock = new VirtualClock();
    const { seen, client, server } = pair(clock);
    client.send(Buffer.from('hello'));
    server.send(Buffer.from('world'), 33);
    await clock.advance(300_000);
    expect(seen).toEqual(['server got hello', 'client got !world']);
    server.close();
    await clock.advance(10_000);
    expect(seen.slice(2)).toEqual(
      expect.arrayContaining(['server end', 'client closed: 1000', 'client end', 'client destroyed']),
    );
    expect(client.isOpen).toBe(false);
    expect(clock.pending).toBe(0);
  });

  test('notices a peer that is silent, unless the silence is its own doing', async () => {
    const clock = new VirtualClock();
    const { seen, silence, client } = pair(clock);
    silence();
    client.pause();
    await clock.advance(600_000);
    expect(seen).toEqual([]);
    client.resume();
    await clock.advance(120_000);
    expect(seen[0]).toBe('client failed: the peer has not answered pings for 60 s; taken for half-open');
  });

  test('is patient with a server that may wait for a process to read', async () => {
    const clock = new VirtualClock();
    const { seen, silence, client } = pair(clock);
    silence();
    client.send(Buffer.from('stdin'));
    await clock.advance(300_000);
    expect(seen).toEqual([]);
    await clock.advance(400_000);
    expect(seen[0]).toMatch(/600 s/);
  });

  test('an end without a close frame is an error', () => {
    const { seen, client } = pair(new VirtualClock());
    client.received(Uint8Array.of(0x82, 5, 1));
    client.ended();
    expect(seen).toContain('client failed: the peer ended the connection in the middle of a message');
  });
});

test('the memory of long frames is used again once they were sent, and not before', () => {
  const written: Uint8Array[] = [];
  const port = {
    write: (bytes: Uint8Array) => {
      written.push(bytes);
      return false;
    },
    ...{ end() {}, pause() {}, resume() {}, destroy() {} },
  };
  const events = { onPiece() {}, onDrain() {}, onEnd() {} };
  const link = new WebSocketLink(port, events, { role: 'client', clock: new VirtualClock(), pingMs: 0 });
  const long = (fill: number) => Buffer.alloc(40_000, fill);
  link.send(long(1), 0);
  link.send(long(2), 0);
  const [first, second] = written as [Uint8Array, Uint8Array];
  expect(first.buffer).not.toBe(second.buffer);
  expect(parse(Buffer.concat([first, second]), [], true).messages.map((one) => [one[0], one[1], one.length])).toEqual([
    [0, 1, 40_001],
    [0, 2, 40_001],
  ]);
  link.drained();
  link.send(long(3), 0);
  expect([first.buffer, second.buffer]).toContain(written[2]?.buffer);
  link.destroy();
});

import { Buffer } from 'node:buffer';
import { expect, test } from 'vitest';
import { HeaderDecoder, HeaderEncoder } from './header-block.js';
import { SpdySession, type SpdyStream } from './spdy-session.js';

test('headers come out as they went in, block by block', () => {
  const encoder = new HeaderEncoder();
  const decoder = new HeaderDecoder();
  for (let i = 0; i < 20; i++) {
    const headers = { streamtype: i % 2 ? 'data' : 'error', port: '8080', requestid: String(i) };
    expect(decoder.decode(encoder.encode(headers))).toEqual(headers);
  }
  expect(() => decoder.decode(Buffer.from('garbage'))).toThrow();
});

test('compressed headers are read, with the dictionary of SPDY/3', () => {
  // As zlib writes them with its best compression, flushed after each block.
  const blocks = [
    '78f9e3c6a7c202e50e703a2b294a4dcc851625aca9a0808614cb45e01c6061606100000000ffff',
    'c2aa1454ea24a2ab04000000ffff',
  ];
  const decoder = new HeaderDecoder();
  expect(blocks.map((block) => decoder.decode(Buffer.from(block, 'hex')))).toEqual([
    { streamtype: 'error', port: '8080' },
    { streamtype: 'data', port: '8080' },
  ]);
});

/** A client and a server, joined in memory. */
function pair() {
  const opened: SpdyStream[] = [];
  const paused = { client: false, server: false };
  const make = (role: 'client' | 'server', other: () => SpdySession) =>
    new SpdySession(role, {
      write: (bytes) => {
        const copy = Uint8Array.from(bytes);
        queueMicrotask(() => other().received(copy));
        return true;
      },
      pause: () => {
        paused[role] = true;
      },
      resume: () => {
        paused[role] = false;
      },
      onStream: (stream) => void opened.push(stream),
    });
  const client: SpdySession = make('client', () => server);
  const server: SpdySession = make('server', () => client);
  return { client, server, opened, paused };
}

async function textOf(stream: SpdyStream): Promise<string> {
  let text = '';
  for await (const bytes of stream.input) text += Buffer.from(bytes);
  return text;
}

test('streams carry bytes both ways, and each side ends by itself', async () => {
  const { client, opened } = pair();
  const [one, two] = [client.open({ port: '1' }), client.open({ port: '2' })];
  await one.write(Buffer.from('to one'));
  one.end();
  await two.write(Buffer.alloc(100_000, 'x'));
  two.end();
  await Promise.resolve();
  expect(opened.map(({ headers }) => headers.port)).toEqual(['1', '2']);
  expect(await textOf(opened[0]!)).toBe('to one');
  expect((await textOf(opened[1]!)).length).toBe(100_000);
  await opened[0]!.write(Buffer.from('back'));
  opened[0]!.end();
  expect(await textOf(one)).toBe('back');
});

test('a reset and a lost connection are errors for who reads', async () => {
  const { client, opened } = pair();
  const [one, two] = [client.open({}), client.open({})];
  await new Promise((resolve) => setImmediate(resolve));
  one.reset();
  await expect(textOf(opened[0]!)).rejects.toThrow('reset');
  client.end(new Error('gone'));
  await expect(textOf(two)).rejects.toThrow('gone');
  expect(() => client.open({})).toThrow('gone');
});

test('a stream that nobody reads makes the connection wait', async () => {
  const { client, opened, paused } = pair();
  const stream = client.open({});
  for (let i = 0; i < 20; i++) await stream.write(Buffer.alloc(32 * 1024));
  await new Promise((resolve) => setImmediate(resolve));
  expect(paused.server).toBe(true);
  stream.end();
  await textOf(opened[0]!);
  expect(paused.server).toBe(false);
});

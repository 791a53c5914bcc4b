import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ResponseHeaders } from '../transport.js';
import { ResponseParser } from './response-parser.js';

interface Read {
  readonly status: number | undefined;
  readonly headers: ResponseHeaders;
  readonly keepAlive: boolean | undefined;
  readonly body: string;
  readonly done: boolean;
  /** Bytes that were not taken. */
  readonly left: string;
}

/** Reads a response that comes in these pieces, in memory that is overwritten after each, and then ends if it is to. */
function read(pieces: readonly string[], { method = 'GET', end = false } = {}): Read {
  let status: number | undefined;
  let headers: ResponseHeaders = {};
  let keepAlive: boolean | undefined;
  const body: Buffer[] = [];
  const parser = new ResponseParser(method, {
    isPaused: false,
    onHead: (head) => {
      ({ status, headers, keepAlive } = head);
    },
    onBody: (chunk) => void body.push(Buffer.from(chunk)),
  });
  let left = '';
  for (const piece of pieces) {
    const bytes = Buffer.from(piece, 'latin1');
    left += bytes.toString('latin1', parser.done ? 0 : parser.feed(bytes));
    bytes.fill(0x7a);
  }
  if (end) parser.end();
  return { status, headers, keepAlive, body: Buffer.concat(body).toString('latin1'), done: parser.done, left };
}

const ok = 'HTTP/1.1 200 OK\r\n';
const responses: Record<string, { readonly text: string; readonly body: string; readonly method?: string }> = {
  'with a length': { text: `${ok}Content-Length: 5\r\nDate: now\r\n\r\nhello`, body: 'hello' },
  'with a length of nothing': { text: `${ok}content-length: 0\r\n\r\n`, body: '' },
  'in chunks': {
    text: `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n00C;a="b"\r\n0\r\n\r\nHTTP/1.\r\n0\r\n\r\n`,
    body: 'hello0\r\n\r\nHTTP/1.',
  },
  'in a chunk whose size has zeros before it': {
    text: `${ok}Transfer-Encoding: chunked\r\n\r\n0000000000000005\r\nhello\r\n0000000000000000\r\n\r\n`,
    body: 'hello',
  },
  'in chunks with trailers': {
    text: `${ok}transfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nx-sum: 1\r\ny:\r\nz: \xc3\xbc \r\n\r\n`,
    body: 'x',
  },
  'behind informational ones': {
    text: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n${ok}content-length: 2\r\n\r\nok`,
    body: 'ok',
  },
  'without a body': { text: 'HTTP/1.1 204 No Content\r\netag: "a"\r\n\r\n', body: '' },
  'to HEAD': { text: `${ok}content-length: 500\r\n\r\n`, body: '', method: 'HEAD' },
};

describe.each(Object.entries(responses))('a response %s', (_, { text, body, method }) => {
  test('is the same wherever it is cut', () => {
    const whole = read([text], { method });
    expect(whole).toMatchObject({ body, done: true, left: '' });
    for (let at = 1; at < text.length; at++)
      expect(read([text.slice(0, at), text.slice(at)], { method })).toEqual(whole);
    expect(read([...text], { method })).toEqual(whole);
  });

  test('ends where it ends: what follows is left, and what is missing is missed', () => {
    expect(read([`${text}HTTP/1.1`], { method })).toMatchObject({ body, done: true, left: 'HTTP/1.1' });
    for (let at = 0; at < text.length; at++) {
      expect(() => read([text.slice(0, at)], { method, end: true })).toThrow(
        /before a response|in the middle of the response/,
      );
    }
  });
});

test('a body without length or chunks continues until the connection is closed', () => {
  const text = `${ok}connection: close\r\n\r\nto the end`;
  expect(read([text])).toMatchObject({ done: false, keepAlive: false });
  expect(read([text], { end: true })).toMatchObject({ body: 'to the end', done: true });
});

test('any body in any chunks and any pieces comes out as it went in', () => {
  const pieces = fc.array(fc.string({ minLength: 1, maxLength: 40, unit: 'binary-ascii' }), { maxLength: 8 });
  fc.assert(
    fc.property(pieces, fc.array(fc.nat({ max: 300 }), { maxLength: 12 }), (chunks, cuts) => {
      const framed = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
      const text = `${ok}transfer-encoding: chunked\r\n\r\n${framed}0\r\n\r\n`;
      const at = [0, ...cuts.map((cut) => cut % text.length).sort((a, b) => a - b), text.length];
      const parts = at.slice(1).map((to, index) => text.slice(at[index], to));
      expect(read(parts)).toMatchObject({ body: chunks.join(''), done: true, left: '' });
    }),
    { numRuns: Number(process.env.RIATA_RUNS ?? 60) },
  );
});

test('chunks that come together are handed out together, what comes before nonsense too', () => {
  const bodies: string[] = [];
  const parser = new ResponseParser('GET', {
    isPaused: false,
    onHead: () => {},
    onBody: (chunk) => void bodies.push(`${chunk}`),
  });
  const chunked = `${ok}transfer-encoding: chunked\r\n\r\n3\r\none\r\n4;x=y\r\ntwo \r\n9\r\nthr`;
  parser.feed(Buffer.from(chunked));
  expect(bodies).toEqual(['onetwo thr']);
  expect(() => parser.feed(Buffer.from('ee, f\r\n2\r\nour'))).toThrow('a chunk is longer than its size');
  expect(bodies).toEqual(['onetwo thr', 'ee, f\r']);
});

test('what stands beside chunks may be as long as they are, for any number of them; more is refused', () => {
  const head = `${ok}transfer-encoding: chunked\r\n\r\n`;
  const padded = '5;name=valu;a="b c"\r\nhello\r\n'.repeat(9_000);
  expect(read([head, padded, '0\r\n\r\n'])).toMatchObject({ body: 'hello'.repeat(9_000), done: true });
  expect(() => read([head, `1;${'x'.repeat(100)}\r\ny\r\n`.repeat(900)])).toThrow(
    'chunk extensions or trailers are too long',
  );
  expect(() => read([head, `0;${'x'.repeat(70_000)}`])).toThrow('chunk extensions or trailers are too long');
});

test('headers: names in lower case, repeated ones as an array, UTF-8 as text', () => {
  const text = `${ok}Warning: 299 - "a"\r\nWARNING:299 - "b"\r\nx:  \xc3\xbc\t \r\nz: l\xc3\xa0\r\n__proto__: y\r\ncontent-length: 0\r\n\r\n`;
  const { headers } = read([text]);
  expect({ ...headers }).toEqual({
    warning: ['299 - "a"', '299 - "b"'],
    x: 'ü',
    z: 'là',
    ['__proto__']: 'y',
    'content-length': '0',
  });
});

test('a head means the same whatever the one before it was', () => {
  const line = fc.constantFrom('a: 1', 'a: 12', 'a:1', 'A: 1', 'a: 1 ', 'b: x', 'b: x:y', 'b: \xc3\xa9', 'ab: 1', 'a:');
  const status = fc.constantFrom(
    ...['HTTP/1.1 200 OK', 'HTTP/1.1 200', 'HTTP/1.1 200 OK and more', 'HTTP/1.0 200 OK', 'HTTP/1.1 201 OK'],
  );
  const head = fc.tuple(status, fc.array(line, { maxLength: 4 }));
  /** By another way: a line at a time, and nothing is remembered. */
  const meant = (lines: readonly string[]) => {
    const found: Record<string, string[]> = {};
    for (const one of lines) {
      const [, name = '', value = ''] = /^([^:]*):(.*)$/.exec(one) ?? [];
      found[name.toLowerCase()] ??= [];
      found[name.toLowerCase()]?.push(Buffer.from(value.trim(), 'latin1').toString('utf8'));
    }
    return Object.fromEntries(Object.entries(found).map(([name, all]) => [name, all.length === 1 ? all[0] : all]));
  };
  fc.assert(
    fc.property(fc.array(head, { minLength: 2, maxLength: 4 }), (heads) => {
      for (const [first, lines] of heads) {
        const got = read([`${[first, ...lines, 'content-length: 0'].join('\r\n')}\r\n\r\n`]);
        expect({ ...got.headers }).toEqual({ ...meant(lines), 'content-length': '0' });
        expect(got.status).toBe(Number(first.slice(9, 12)));
        expect(got.keepAlive).toBe(first.startsWith('HTTP/1.1'));
      }
    }),
  );
});

test.each(['a: 1\rb: 2', 'a: 1\nb: 2', 'a: \x00', 'a 1', ' a: 1', 'a : 1'])(
  '%j is refused, also after a: 1',
  (line) => {
    read([`${ok}a: 1\r\ncontent-length: 0\r\n\r\n`]);
    expect(() => read([`${ok}${line}\r\ncontent-length: 0\r\n\r\n`])).toThrow();
  },
);

test('whether the connection can be kept', () => {
  const kept = (head: string, method?: string) => read([`${head}content-length: 0\r\n\r\n`], { method }).keepAlive;
  expect(kept(ok)).toBe(true);
  expect(kept(`${ok}Connection: X, Close\r\n`)).toBe(false);
  expect(kept('HTTP/1.0 200 OK\r\n')).toBe(false);
  expect(kept('HTTP/1.0 200 OK\r\nconnection: keep-alive\r\n')).toBe(true);
  // Some send a body all the same.
  expect(kept(ok, 'HEAD')).toBe(false);
});

describe('stopped', () => {
  test('nothing more comes, not even the end, until it may go on', () => {
    for (const text of [
      `${ok}content-length: 5\r\n\r\nhello`,
      `${ok}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    ]) {
      const seen: string[] = [];
      const events = {
        isPaused: false,
        onHead: () => {
          seen.push('head');
          events.isPaused = true;
        },
        onBody: (chunk: Uint8Array) => {
          seen.push(`${chunk}`);
          events.isPaused = true;
        },
      };
      const parser = new ResponseParser('GET', events);
      const bytes = Buffer.from(text);
      let at = parser.feed(bytes);
      expect([seen, parser.done]).toEqual([['head'], false]);
      expect(parser.feed(bytes.subarray(at))).toBe(0);
      events.isPaused = false;
      at += parser.feed(bytes.subarray(at));
      expect([seen, parser.done]).toEqual([['head', 'hello'], false]);
      events.isPaused = false;
      parser.feed(bytes.subarray(at));
      parser.settle();
      expect(parser.done).toBe(true);
    }
  });
});

describe('a malformed response', () => {
  const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;
  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a TLS alert', '\x15\x03\x01\x00\x02\x02\x46'],
    ['HTTP/2', 'HTTP/2 200\r\n\r\n'],
    ['a status that is none', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    ['a header without colon', `${ok}oops\r\n\r\n`],
    ['a folded header', `${ok}a: b\r\n c: d\r\n\r\n`],
    ['a space before the colon', `${ok}a : b\r\n\r\n`],
    ['a bare CR in a header', `${ok}a: b\rc\r\n\r\n`],
    ['a bare LF in a header', `${ok}a: b\nc: d\r\n\r\n`],
    ['a length and chunks', `${ok}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`],
    ['two lengths', `${ok}content-length: 1\r\ncontent-length: 2\r\n\r\n`],
    ['the same length twice', `${ok}content-length: 1\r\nContent-Length: 1\r\n\r\nx`],
    [
      'an informational response that closes',
      `HTTP/1.1 103 A\r\nconnection: close\r\n\r\n${ok}content-length: 0\r\n\r\n`,
    ],
    ['a list of lengths', `${ok}content-length: 1, 1\r\n\r\n`],
    ['a tab behind a length', `${ok}content-length: 1\t\r\n\r\nx`],
    ['a tab behind a transfer-encoding', `${ok}transfer-encoding: chunked\t\r\n\r\n0\r\n\r\n`],
    ['a length that is none', `${ok}content-length: +1\r\n\r\n`],
    ['another transfer-encoding', `${ok}transfer-encoding: gzip, chunked\r\n\r\n`],
    ['a chunk without size', `${chunked}\r\n`],
    ['a size that is none', `${chunked}0x5\r\n`],
    ['a size past all bounds', `${chunked}fffffffffffffff\r\n`],
    ['a size past what numbers hold', `${chunked}20000000000000\r\n`],
    ['a size without end', `${chunked}${'0'.repeat(17)}\r\n`],
    ['a size that ends without CR', `${chunked}5\nhello`],
    ['an extension that ends without CR', `${chunked}5;a\nhello`],
    ['a space behind a size', `${chunked}5 \r\nhello`],
    ['a tab behind a size', `${chunked}5\t;a\r\nhello`],
    ['an extension without a name', `${chunked}5;\r\nhello`],
    ['a space in an extension', `${chunked}5; a\r\nhello`],
    ['a control character in the name of an extension', `${chunked}5;a\x01\r\nhello`],
    ['a control character in the value of an extension', `${chunked}5;a=b\x7f\r\nhello`],
    ['a control character in quotes', `${chunked}5;a="\x00"\r\nhello`],
    ['an escaped control character', `${chunked}5;a="\\\x01"\r\nhello`],
    ['quotes without end', `${chunked}5;a="b\r\nhello`],
    ['something behind quotes', `${chunked}5;a="b"c\r\nhello`],
    ['a bare CR in an extension', `${chunked}5;a\rb\r\nhello`],
    ['a trailer without colon', `${chunked}0\r\nx\r\n\r\n`],
    ['a trailer without name', `${chunked}0\r\n: x\r\n\r\n`],
    ['a trailer with a space in its name', `${chunked}0\r\nx : 1\r\n\r\n`],
    ['a folded trailer', `${chunked}0\r\nx: 1\r\n y\r\n\r\n`],
    ['a trailer with a control character', `${chunked}0\r\nx: \x01\r\n\r\n`],
    ['a trailer with a bare CR', `${chunked}0\r\nx: 1\rz\r\n\r\n`],
    ['a trailer that begins with a bare CR', `${chunked}0\r\n\ry: 1\r\n\r\n`],
    ['a length behind the body', `${chunked}0\r\nContent-Length: 1\r\n\r\n`],
    ['a transfer-encoding behind the body', `${chunked}0\r\ntransfer-encoding: chunked\r\n\r\n`],
    ['a chunk that goes on', `${chunked}1\r\nhello`],
    ['a trailer that ends without CR', `${chunked}0\r\n\n`],
    ['trailers without end', `${chunked}0\r\n${'x'.repeat(70_000)}`],
    ['headers without end', `${ok}a: ${'x'.repeat(1_100_000)}`],
  ])('%s is refused', (_, text) => {
    expect(() => read([text])).toThrow(expect.objectContaining({ kind: 'protocol' }));
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lines } from './lines.js';

async function* chunks(...parts: readonly (string | Uint8Array)[]) {
  for (const part of parts) yield Buffer.from(part as string);
}

async function read(...parts: readonly (string | Uint8Array)[]): Promise<string[]> {
  const got: string[] = [];
  for await (const line of lines(chunks(...parts))) got.push(line);
  return got;
}

describe('lines', () => {
  test.each([
    ['lines across chunks', ['a\nb', 'c\n', '\nd\n'], ['a', 'bc', '', 'd']],
    ['the last one needs no end', ['a\nb'], ['a', 'b']],
    ['nothing at all', [], []],
    ['an end alone is an empty line', ['\n'], ['']],
    ['CRLF is one end, also when cut', ['a\r\nb\r', '\nc'], ['a', 'b', 'c']],
    ['a lone CR is text, as progress bars write it', ['1%\r2%\r\n\rx\r'], ['1%\r2%', '\rx\r']],
  ])('%s', async (_, parts, expected) => {
    expect(await read(...parts)).toEqual(expected);
  });

  test('characters may be cut anywhere', async () => {
    const text = 'grüße €\n👍 ok\nzwölf';
    const bytes = Buffer.from(text);
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(await read(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(text.split('\n'));
    }
    expect(await read(...[...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(text.split('\n'));
  });

  test('bytes that are no UTF-8 do not end it', async () => {
    expect(await read(Uint8Array.of(0x61, 0xff, 0x0a, 0xe2), 'b')).toEqual(['a\ufffd', '\ufffdb']);
    expect(await read(Uint8Array.of(0xe2, 0x82))).toEqual(['\ufffd']);
  });

  test('however it is cut, the lines are the same', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme' }).map((s) => s.replace(/[\r\n\ufeff]/g, ''))),
        fc.array(fc.nat(200)),
        async (texts, cuts) => {
          const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
          const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
          const parts = at.slice(1).map((end, i) => bytes.subarray(at[i], end));
          expect(await read(...parts)).toEqual(texts);
        },
      ),
    );
  });

  test('a line without end comes in pieces, so that it does not fill the memory', async () => {
    const got: string[] = [];
    for await (const line of lines(chunks('aaaa', 'aa', 'bb\nc'), 5)) got.push(line);
    expect(got).toEqual(['aaaaaa', 'bb', 'c']);
  });

  test('comes as the bytes come, and ends the stream when left early', async () => {
    let closed = false;
    let pulled = 0;
    const source = async function* () {
      try {
        for (;;) {
          pulled += 1;
          yield Buffer.from('line\n');
        }
      } finally {
        closed = true;
      }
    };
    for await (const line of lines(source())) {
      expect(line).toBe('line');
      break;
    }
    expect([pulled, closed]).toEqual([1, true]);
  });

  test('a failure comes after the lines before it', async () => {
    const source = async function* () {
      yield Buffer.from('a\nb');
      throw new Error('cut');
    };
    const got: string[] = [];
    const reading = (async () => {
      for await (const line of lines(source())) got.push(line);
    })();
    await expect(reading).rejects.toThrow('cut');
    expect(got).toEqual(['a']);
  });
});

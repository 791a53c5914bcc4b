import fc from 'fast-check';
import { expect, test } from 'vitest';
import { guessEnd, guessLastEnd, lastByte, mayHoldLongInteger, UNKNOWN_BEGINNING } from './guess.js';
import { unsafeNumbers } from './unsafe-numbers.js';

const holds = (text: string) => mayHoldLongInteger(Buffer.from(text), 0, Buffer.byteLength(text));

test('every text with a number that is lost is suspected, wherever the number stands', () => {
  const lost = fc.constantFrom('9007199254740993', '-12345678901234567890', '1'.repeat(50));
  fc.assert(
    fc.property(
      fc.string({ maxLength: 12 }),
      lost,
      fc.constantFrom('', ' ', '\n\t'),
      fc.nat(9),
      (pad, number, space, more) => {
        const text = `{${JSON.stringify(pad)}:${space}${number}${space},"b":[${more},${number}]}`;
        expect(unsafeNumbers(text).length).toBeGreaterThan(0);
        expect(holds(text)).toBe(true);
      },
    ),
    { numRuns: 1000 },
  );
});

test('integers of any length: every lost one is suspected, times in microseconds are not', () => {
  const integer = fc.tuple(
    fc.boolean(),
    fc.integer({ min: 1, max: 9 }),
    fc.array(fc.nat(9), { minLength: 13, maxLength: 18 }),
  );
  fc.assert(
    fc.property(
      integer,
      fc.nat(20),
      fc.constantFrom('', ' ', '.5', 'e3', 'E+2'),
      ([isNegative, first, rest], pad, after) => {
        const number = `${isNegative ? '-' : ''}${first}${rest.join('')}${after}`;
        const text = `{"a":"${'x'.repeat(pad)}","b":[${number},${number}],"c":${number}}`;
        if (unsafeNumbers(text).length > 0) expect(holds(text)).toBe(true);
        const isTime = rest.length < 15 || (rest.length === 15 && first < 9);
        if (isTime && after.trim() === '') expect(holds(text)).toBe(false);
      },
    ),
    { numRuns: 2000 },
  );
  // Cut out of a longer one.
  expect(mayHoldLongInteger(Buffer.from('1234567890123456,'), 0, 17)).toBe(true);
});

test.each([
  '{"uid":"3f2a7c1e-1e12-4e123-9e999-0123456789ab","ip":"10.200.250.99"}',
  '{"hash":"sha256:9f86e123d081","time":"2026-11-02T10:22:31Z","port":8080,"big":123456789012345}',
  '{"a":1e10,"b":2.5E-7,"c":"xe400","d":true}',
])('%s is not', (text) => {
  expect(holds(text)).toBe(false);
});

test('the end is guessed by how the next object begins', () => {
  const guess = (text: string, end = text.length, from = 1) => guessEnd(Buffer.from(text), 0, from, end);
  expect(guess('{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}')).toBe(25);
  expect(guess('{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}', undefined, 20)).toBe(25);
  expect(guess('{"apiVersion":"v1"},{"apiVersion":"v1"}')).toBe(19);
  expect(guess('{"kind":"A"},{"kind":"B"}')).toBe(12);
  expect(guess('{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}', 30)).toBe(-1);
  expect(guess('{"metadata":{"name":"a"}}]}')).toBe(-1);
  expect(guess('{"metadata":{"name":"a"}},')).toBe(-1);
  expect(guess('{"spec":{}},{"spec":{}}')).toBe(UNKNOWN_BEGINNING);
  expect(guess('{"meta":{}},{"metadata":{}}')).toBe(UNKNOWN_BEGINNING);
  expect(guess('{}')).toBe(UNKNOWN_BEGINNING);
});

test('the last byte that is no white space', () => {
  const last = (text: string) => String.fromCharCode(lastByte(Buffer.from(text), 0, text.length));
  expect(last('{"a":1}\n \t\r')).toBe('}');
  expect(last('[')).toBe('[');
  expect(lastByte(Buffer.from('} \n'), 1, 3)).toBe(0);
});

test('the last end is looked for where it should be by the usual length, and elsewhere if it is not there', () => {
  const item = (length: number) => `{"metadata":{"a":"${'x'.repeat(length - 20)}"}}`;
  const text = (lengths: readonly number[]) => `${lengths.map(item).join(',')},{"metadata":{"name`;
  const guess = (lengths: readonly number[], usual: number) => {
    const bytes = Buffer.from(text(lengths));
    return text(lengths).slice(0, guessLastEnd(bytes, 0, bytes.length, usual));
  };
  expect(guess([100, 100, 100], 100)).toBe([100, 100, 100].map(item).join(','));
  expect(guess([100, 100, 100], 0)).toBe(item(100));
  // Longer and shorter than usual: some, and whole ones.
  expect(guess([400], 100)).toBe(item(400));
  const long = Buffer.from(`${text([40, 40])}${'x'.repeat(500)}`);
  expect(guessLastEnd(long, 0, long.length, 100)).toBe(item(40).length);
  expect(guess([40, 40, 40, 40], 100)).toBe([40, 40, 40].map(item).join(','));
  const none = Buffer.from(item(100));
  expect(guessLastEnd(none, 0, none.length, 50)).toBe(-1);
  expect(guessLastEnd(Buffer.from('{"spec":1},{"spec":1}'), 0, 21, 10)).toBe(UNKNOWN_BEGINNING);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lossOf } from '../../object/value/lossy.js';
import { hasStatusCause, isInternalError, isResourceExpired } from '../errors/error-guards.js';
import { type WatchDecodeOptions, WatchDecoder } from './watch-decoder.js';
import type { WatchEvent } from './watch-event.js';

/** Decodes chunks as a transport hands them out: each is overwritten after its call. */
function decode(chunks: Iterable<Uint8Array>, options?: WatchDecodeOptions): WatchEvent<unknown>[] {
  const decoder = new WatchDecoder<unknown>(options);
  const events: WatchEvent<unknown>[] = [];
  const drain = () => {
    for (let event = decoder.next(); event !== undefined; event = decoder.next()) events.push(event);
  };
  for (const chunk of chunks) {
    const lent = Uint8Array.from(chunk);
    decoder.push(lent);
    drain();
    lent.fill(0x58);
  }
  decoder.finish();
  drain();
  return events;
}

const whole = (text: string, options?: WatchDecodeOptions) => decode([Buffer.from(text)], options);

function* pieces(bytes: Uint8Array, at: Iterable<number>): Generator<Uint8Array> {
  let from = 0;
  for (const to of at) {
    yield bytes.subarray(from, to);
    from = to;
  }
  yield bytes.subarray(from);
}

const gone = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'old',
  reason: 'Expired',
  code: 410,
};
const body = Buffer.from(
  '{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"é漢😀","managedFields":[{"a":"}"}]},"spec":{"n":9007199254740993}}}\n' +
    '{"type":"MODIFIED","object":{"metadata":{"managedFields":[],"name":"\\"\\\\"}}}\n' +
    ' { "object" : { "metadata" : { "managedFields" : [ ] } } , "type" : "DELETED" }' +
    '{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"12"}}}\r\n\n' +
    `{"type":"ERROR","object":${JSON.stringify(gone)}}\n`,
);
const expected = [
  { type: 'ADDED', object: { kind: 'Pod', metadata: { name: 'é漢😀' }, spec: { n: Number('9007199254740993') } } },
  { type: 'MODIFIED', object: { metadata: { name: '"\\' } } },
  { type: 'DELETED', object: { metadata: {} } },
  { type: 'BOOKMARK', object: { kind: 'Pod', metadata: { resourceVersion: '12' } } },
  { type: 'ERROR', object: gone },
];

function expectAll(events: WatchEvent<unknown>[]): void {
  expect(events.map(({ type, object }) => ({ type, object }))).toEqual(expected);
  expect(lossOf(events[0]?.object as object)?.reasons).toEqual([{ reason: 'unsafe-integer', paths: ['spec.n'] }]);
  const last = events[4];
  expect(last?.type === 'ERROR' && isResourceExpired(last.error)).toBe(true);
}

test('what stands behind the object of an event does not disturb the cut', () => {
  const fields = JSON.stringify([{ manager: 'x'.repeat(200) }]);
  const event = (name: string, tail: string) =>
    `{"type":"ADDED","object":{"metadata":{"name":"${name}","managedFields":${fields},"uid":"u"},"spec":{}}${tail}}\n`;
  const text =
    event('a', '') + event('b', ',"more":{"a":1}') + event('c', '') + event('d', ',"more":{}') + event('e', '');
  const events = whole(text, { cutManagedFields: true });
  expect(events).toEqual(
    ['a', 'b', 'c', 'd', 'e'].map((name) => ({ type: 'ADDED', object: { metadata: { name, uid: 'u' }, spec: {} } })),
  );
});

describe('bytes in pieces', () => {
  test('split in two at every position', () => {
    for (let at = 0; at <= body.length; at++) expectAll(decode(pieces(body, [at]), { cutManagedFields: true }));
  });

  test('byte by byte', () => {
    expectAll(decode(pieces(body, body.keys()), { cutManagedFields: true }));
  });

  test('split anywhere, whatever the objects are', () => {
    const event = fc.record({
      type: fc.constantFrom('ADDED', 'MODIFIED', 'DELETED'),
      object: fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 }),
    });
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.constantFrom('', '\n', '\r\n '),
        (events, cuts, glue) => {
          const bytes = Buffer.from(events.map((each) => JSON.stringify(each)).join(glue));
          const at = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
          expect(decode(pieces(bytes, at))).toEqual(JSON.parse(JSON.stringify(events)));
        },
      ),
      { numRuns: 300 },
    );
  });

  test('events separated by newlines, spread out ones among them, split anywhere', () => {
    const object = fc.constantFrom<object>(
      { kind: 'Pod', metadata: { name: '}}', managedFields: [{ manager: 'x]}},' }] }, spec: { text: '\n}}' } },
      { metadata: { managedFields: [{ a: [1] }], name: 'é' }, status: { n: 1e21 } },
      { metadata: { name: 'twice' }, other: { metadata: { managedFields: [1] } } },
      { spec: {} },
      {},
    );
    const line = fc.record({
      event: fc.record({ type: fc.constantFrom('ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'), object }),
      pretty: fc.boolean(),
      glue: fc.constantFrom('\n', '\n', '\n', '\r\n', '', ' '),
    });
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 10 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        fc.boolean(),
        (lines, cuts, cutManagedFields) => {
          const text = lines
            .map(({ event, pretty, glue }) => JSON.stringify(event, null, pretty ? 1 : 0) + glue)
            .join('');
          const bytes = Buffer.from(text);
          const at = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
          const desired = lines.map(({ event }) => {
            const copy = JSON.parse(JSON.stringify(event));
            if (cutManagedFields) delete copy.object.metadata?.managedFields;
            return copy;
          });
          expect(decode(pieces(bytes, at), { cutManagedFields })).toEqual(desired);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('numbers past 2^53 and a second metadata are found in events that are separated by newlines', () => {
    const first = '{"type":"ADDED","object":{"metadata":{}}}\n';
    const lossy =
      '{"type":"ADDED","object":{"metadata":{"managedFields":[1]},"a":9007199254740993,"b":[-12345678901234567890]}}\n';
    const twice = '{"type":"ADDED","object":{"metadata":{},"metadata":{"managedFields":[1],"a":1}}}\n';
    for (const cutManagedFields of [true, false]) {
      const [, event] = whole(`${first}${lossy}`, { cutManagedFields });
      expect(lossOf(event?.object as object)?.reasons).toEqual([{ reason: 'unsafe-integer', paths: ['a', 'b[0]'] }]);
    }
    for (const members of [
      '"spec":{"a":9007199254740993}',
      '"spec":{"a":[12345678901234567890]}',
      '"a":-9007199254740993',
    ]) {
      const text = `${first}${lossy.replace(/"a":.*]/, members)}`;
      const [, event] = whole(text, { cutManagedFields: true, decoder: { decode: () => undefined } });
      expect(lossOf(event?.object as object)?.reasons[0]?.paths).toHaveLength(1);
    }
    expect(whole(`${first}${twice}`, { cutManagedFields: true })[1]?.object).toEqual({ metadata: { a: 1 } });
  });

  test('a complete event comes out at once, with or without a newline behind it', () => {
    const decoder = new WatchDecoder();
    const event = '{"type":"ADDED","object":{"a":{}}}';
    decoder.push(Buffer.from(`${event}\n${event}`));
    expect(decoder.next()).toBeDefined();
    expect(decoder.next()).toBeDefined();
    decoder.push(Buffer.from(`\n${event.slice(0, 20)}`));
    expect(decoder.next()).toBeUndefined();
    decoder.push(Buffer.from(`${event.slice(20)}  `));
    expect(decoder.next()).toEqual({ type: 'ADDED', object: { a: {} } });
    expect(decoder.next()).toBeUndefined();
  });

  test('cut off at every position: the events before it, then an ERROR event unless between two', () => {
    const text = '{"type":"ADDED","object":{"a":"é"}}\n{"type":"ADDED","object":{"b":[1]}}';
    const bytes = Buffer.from(text);
    const boundaries = new Set([0, bytes.indexOf('\n'), bytes.indexOf('\n') + 1]);
    for (let end = 0; end < bytes.length; end++) {
      const events = decode([bytes.subarray(0, end)]);
      const types = events.map(({ type }) => type);
      const complete = end < bytes.indexOf('\n') ? [] : ['ADDED'];
      expect(types, `after ${end} bytes`).toEqual(boundaries.has(end) ? complete : [...complete, 'ERROR']);
    }
  });

  test('an event of 20 MB among small ones', () => {
    const text = 'x"\\é'.repeat(4 << 20);
    const bytes = Buffer.from(
      `${JSON.stringify({ type: 'ADDED', object: { text } })}\n${JSON.stringify({ type: 'DELETED', object: { a: 1 } })}\n`,
    );
    expect(bytes.length).toBeGreaterThan(20 << 20);
    const at = Array.from({ length: Math.floor(bytes.length / 16_384) }, (_, i) => (i + 1) * 16_384);
    const events = decode(pieces(bytes, at));
    expect((events[0]!.object as { text: string }).text === text).toBe(true);
    expect(events[1]).toEqual({ type: 'DELETED', object: { a: 1 } });
  });
});

describe('what cannot be decoded', () => {
  test.each([
    ['garbage', '<html>', 'expected an event in JSON, got "<"'],
    ['broken JSON', '{"type":"ADDED","object":{"a":tru}}', 'broken JSON in an event'],
    ['an unknown type', '{"type":"CHANGED","object":{}}', 'unknown event type CHANGED'],
    ['no type', '{"object":{}}', 'unknown event type'],
    ['no object', '{"type":"ADDED"}', 'ADDED event without an object'],
    ['an array as object', '{"type":"ADDED","object":[]}', 'ADDED event without an object'],
    ['a stray comma', ',{"type":"ADDED","object":{}}', 'expected an event in JSON, got ","'],
  ])('%s: one ERROR event, then nothing', (_, text, problem) => {
    const events = whole(`{"type":"ADDED","object":{"a":1}}\n${text}\n{"type":"ADDED","object":{"b":1}}\n`);
    expect(events.map(({ type }) => type)).toEqual(['ADDED', 'ERROR']);
    const last = events[1] as WatchEvent & { type: 'ERROR' };
    expect(last.error.message).toContain(`unable to decode an event from the watch stream: ${problem}`);
    expect(last.error.message).toContain('(1 event came before)');
    expect(isInternalError(last.error) && hasStatusCause(last.error, 'ClientWatchDecoding')).toBe(true);
    expect(last.object).toBe(last.error.status);
  });

  test('garbage from the start is quoted', () => {
    expect(whole('<html>502</html>')[0]).toMatchObject({
      error: { message: expect.stringContaining('"<html>502</html>"') },
    });
  });

  test('an event past the limit', () => {
    const large = `{"type":"ADDED","object":{"a":"${'x'.repeat(100)}"}}`;
    expect(whole(large, { maxObjectBytes: 100 })).toMatchObject([{ type: 'ERROR' }]);
    const events = whole(large.slice(0, 110), { maxObjectBytes: 100 });
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      type: 'ERROR',
      error: { message: expect.stringContaining('more than 100 bytes') },
    });
  });

  test('an ERROR event whose object is no Status', () => {
    const [event] = whole('{"type":"ERROR","object":{"kind":"Pod"}}');
    expect(event).toMatchObject({ type: 'ERROR', error: { message: expect.stringContaining('no Status') } });
  });

  test('a Status in place of the stream', () => {
    const events = whole(JSON.stringify(gone));
    expect(events).toHaveLength(1);
    expect(events[0]?.type === 'ERROR' && isResourceExpired(events[0].error)).toBe(true);
  });

  test('managedFields is cut from the object alone, and only once it is certain to be it', () => {
    const cut = (text: string) => whole(text, { cutManagedFields: true }).map(({ object }) => object);
    expect(
      cut('{"type":"ADDED","object":{"spec":{"metadata":{"managedFields":[1]}}},"metadata":{"managedFields":[1]}}'),
    ).toEqual([{ spec: { metadata: { managedFields: [1] } } }]);
    expect(
      cut('{"x":{"metadata":{"managedFields":[1]}},"type":"ADDED","object":{"metadata":{"a":1,"managedFields":[1]}}}'),
    ).toEqual([{ metadata: { a: 1 } }]);
    expect(
      cut(
        '{"type":"ADDED","object":{"metadata":{"managedFields":[1],"a":1}},"object":{"metadata":{"b":1,"managedFields":[1]}}}',
      ),
    ).toEqual([{ metadata: { b: 1 } }]);
    expect(cut('{"type":"ADDED","object":{"metadata":{"\\u006danagedFields":[1],"a":1}}}')).toEqual([
      { metadata: { a: 1 } },
    ]);
  });

  test('numbers past 2^53 are noted for every spelling of an event', () => {
    const [event] = whole('{"object":{"a":{"b":12345678901234567890}},"objects":12345678901234567890,"type":"ADDED"}');
    expect(lossOf(event?.object as object)?.reasons).toEqual([{ reason: 'unsafe-integer', paths: ['a.b'] }]);
  });
});

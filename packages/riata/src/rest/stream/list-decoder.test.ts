import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lossOf } from '../../object/value/lossy.js';
import { isApiError } from '../errors/api-error.js';
import { isDecodeError } from '../errors/decode-error.js';
import { type ListDecodeOptions, ListDecoder, type ListEnd } from './list-decoder.js';

interface Decoded {
  readonly items: unknown[];
  readonly end: ListEnd;
}

/** Decodes chunks as a transport hands them out: each is overwritten after its call. */
function decode(chunks: Iterable<Uint8Array>, options?: ListDecodeOptions): Decoded {
  const decoder = new ListDecoder<unknown>(options);
  const items: unknown[] = [];
  const drain = () => {
    for (let item = decoder.next(); item !== undefined; item = decoder.next()) items.push(item);
  };
  for (const chunk of chunks) {
    const lent = Uint8Array.from(chunk);
    decoder.push(lent);
    drain();
    lent.fill(0x58);
  }
  const end = decoder.finish();
  drain();
  return { items, end };
}

const whole = (text: string, options?: ListDecodeOptions) => decode([Buffer.from(text)], options);

function* pieces(bytes: Uint8Array, at: Iterable<number>): Generator<Uint8Array> {
  let from = 0;
  for (const to of at) {
    yield bytes.subarray(from, to);
    from = to;
  }
  yield bytes.subarray(from);
}

const body = Buffer.from(
  '{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"c","remainingItemCount":3},"items":[' +
    '{"metadata":{"name":"é漢😀","managedFields":[{"a":"]"}],"labels":{"q":"\\"\\\\"}},"spec":{"n":9007199254740993}},' +
    '{"metadata":{"name":"b","managedFields":[]},"spec":{"x":[1.5e3,{}]}},{}]}\n',
);
const expected = [
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'é漢😀', labels: { q: '"\\' } },
    spec: { n: Number('9007199254740993') },
  },
  { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'b' }, spec: { x: [1500, {}] } },
  { apiVersion: 'v1', kind: 'Pod' },
];
const expectedEnd = {
  apiVersion: 'v1',
  kind: 'PodList',
  metadata: { resourceVersion: '7', continue: 'c', remainingItemCount: 3 },
  count: 3,
};

describe('bytes in pieces', () => {
  test('split in two at every position', () => {
    for (let at = 0; at <= body.length; at++) {
      const { items, end } = decode(pieces(body, [at]), { cutManagedFields: true });
      expect(items).toEqual(expected);
      expect(end).toEqual(expectedEnd);
      expect(lossOf(items[0] as object)?.reasons).toEqual([{ reason: 'unsafe-integer', paths: ['spec.n'] }]);
    }
  });

  test('byte by byte', () => {
    const { items } = decode(pieces(body, body.keys()), { cutManagedFields: true });
    expect(items).toEqual(expected);
  });

  test('split anywhere, whatever the items are', () => {
    const item = fc.record({
      metadata: fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }),
      spec: fc.jsonValue(),
    });
    fc.assert(
      fc.property(
        fc.array(item, { maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.boolean(),
        (list, cuts, pretty) => {
          const object = { apiVersion: 'v1', items: list, kind: 'List', metadata: {} };
          const bytes = Buffer.from(JSON.stringify(object, null, pretty ? 2 : undefined));
          const at = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
          expect(decode(pieces(bytes, at)).items).toEqual(JSON.parse(JSON.stringify(list)));
        },
      ),
      { numRuns: 300 },
    );
  });

  test('items that hold what looks like the end of one and the beginning of the next', () => {
    const bait = '}},{"metadata":{"name":"x"}},{"metadata":{';
    const template = { metadata: { name: 'inner', managedFields: [1] } };
    const kinds = fc.constantFrom<object>(
      { metadata: { name: 'plain', managedFields: [{ a: bait }] }, spec: 1 },
      { metadata: { name: bait, managedFields: [] }, spec: { text: bait } },
      { metadata: { name: 'nested' }, list: [template, template, { deep: [template, template] }] },
      { metadata: { managedFields: ['x'], name: 'last' } },
      { metadata: { name: 'much', managedFields: [{ a: bait.repeat(3) }], uid: 'u' }, list: [template, template] },
      { metadata: { managedFields: [{ plain: 'x'.repeat(60) }], uid: 'u' }, list: [template, template] },
      { metadata: { name: 'numbers' }, spec: { big: '9007199254740993', list: [1, 2, 3] } },
      { metadata: { name: 'late' }, a: [{}, template], z: { metadata: template } },
    );
    fc.assert(
      fc.property(
        fc.array(kinds, { maxLength: 12 }),
        fc.array(fc.nat(), { maxLength: 6 }),
        fc.boolean(),
        (list, cuts, cutManagedFields) => {
          const bytes = Buffer.from(JSON.stringify({ kind: 'FooList', apiVersion: 'v1', metadata: {}, items: list }));
          const at = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
          const expectedItems = list.map((item) => {
            const { metadata, ...rest } = JSON.parse(JSON.stringify(item));
            if (cutManagedFields) delete metadata.managedFields;
            return { apiVersion: 'v1', kind: 'Foo', metadata, ...rest };
          });
          expect(decode(pieces(bytes, at), { cutManagedFields }).items).toEqual(expectedItems);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('long lists of short and long items, of which some hold numbers that are lost', () => {
    const item = fc.record({ bytes: fc.constantFrom(10, 200, 2000), lost: fc.nat(15), managed: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(item, { minLength: 20, maxLength: 80 }),
        fc.array(fc.nat(), { maxLength: 40 }),
        fc.boolean(),
        (list, cuts, cutManagedFields) => {
          const texts = list.map(({ bytes: length, lost, managed }, i) => {
            const managedFields = managed ? ',"managedFields":[{"manager":"m"}]' : '';
            const number = lost === 0 ? '9007199254740993' : lost === 1 ? '-12345678901234567890' : '1';
            return `{"metadata":{"name":"${i}"${managedFields}},"spec":{"n":${number},"s":"${'x'.repeat(length)}"}}`;
          });
          const bytes = Buffer.from(`{"kind":"FooList","apiVersion":"v1","metadata":{},"items":[${texts.join(',')}]}`);
          const at = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
          const { items } = decode(pieces(bytes, at), { cutManagedFields });
          const expectedItems = texts.map((text) => {
            const { metadata, spec } = JSON.parse(text);
            if (cutManagedFields) delete metadata.managedFields;
            return { apiVersion: 'v1', kind: 'Foo', metadata, spec };
          });
          expect(items).toEqual(expectedItems);
          expect(items.map((each) => lossOf(each as object) !== undefined)).toEqual(list.map(({ lost }) => lost < 2));
        },
      ),
      { numRuns: Number(process.env.RIATA_RUNS ?? 100) },
    );
  });

  test('managedFields that look as if they ended early, cut anywhere', () => {
    const list = [
      { name: 'a', managedFields: [{ manager: 'x]}},' }], uid: 'u' },
      { name: 'b', managedFields: [{ manager: '],', operation: 'Apply' }] },
      { name: 'c', managedFields: [{ a: { c: [1], b: {} } }], uid: 'u' },
      { name: 'd', managedFields: [{ f: { 'k:{"a":"]},"}': {} } }, '[', ']'], uid: 'u' },
      { name: 'e', managedFields: [{ plain: {} }] },
      { managedFields: [], name: 'f' },
      { managedFields: [[[]], {}], name: 'g' },
    ].map((metadata) => ({ metadata, spec: { a: [{ b: 1 }] } }));
    const bytes = Buffer.from(JSON.stringify({ kind: 'FooList', apiVersion: 'v1', metadata: {}, items: list }));
    const expectedItems = list.map(({ metadata: { managedFields: _, ...metadata }, spec }) => ({
      apiVersion: 'v1',
      kind: 'Foo',
      metadata,
      spec,
    }));
    const options = { cutManagedFields: true };
    for (let at = 0; at <= bytes.length; at++)
      expect(decode(pieces(bytes, [at]), options).items).toEqual(expectedItems);
    expect(decode(pieces(bytes, bytes.keys()), options).items).toEqual(expectedItems);
  });

  test('items of very different lengths, each with its comma in a piece of its own or several in one', () => {
    const length = fc.oneof(fc.nat(20), fc.nat(3000));
    fc.assert(
      fc.property(
        fc.array(length, { minLength: 1, maxLength: 30 }),
        fc.boolean(),
        fc.infiniteStream(fc.nat(3)),
        (lengths, cutManagedFields, joins) => {
          const items = lengths.map((n, i) => ({
            metadata: { name: `${i}`, uid: 'é' },
            data: { text: '},'.repeat(n) },
          }));
          const texts = items.map((item, i) => `${JSON.stringify(item)}${i + 1 < items.length ? ',' : ']}\n'}`);
          const chunks: string[] = ['{"kind":"FooList","apiVersion":"v1","metadata":{},"items":['];
          for (const text of texts) {
            if (joins.next().value === 0) chunks.push(`${chunks.pop()}${text}`);
            else chunks.push(text);
          }
          const decoded = decode(
            chunks.map((chunk) => Buffer.from(chunk)),
            { cutManagedFields },
          );
          expect(decoded.items).toEqual(items.map((item) => ({ apiVersion: 'v1', kind: 'Foo', ...item })));
        },
      ),
      { numRuns: 200 },
    );
  });

  test('an item that is complete comes out before the error, wherever the rest of the list was cut off', () => {
    const tail = '{"metadata":{"name":"b"}}],"metadata":{"resourceVersion":"1"},"kind":"FooList","apiVersion":"v1"}';
    const text = `{"items":[{"metadata":{"name":"a"}},${tail}`;
    const complete = text.indexOf(']');
    for (let end = complete; end < text.length; end++) {
      const decoder = new ListDecoder<{ metadata: { name: string } }>({ itemType: { apiVersion: 'v1', kind: 'Foo' } });
      decoder.push(Buffer.from(text.slice(0, end)));
      const names: string[] = [];
      const drain = () => {
        for (let item = decoder.next(); item !== undefined; item = decoder.next()) names.push(item.metadata.name);
      };
      drain();
      decoder.flush();
      drain();
      expect(names, text.slice(0, end)).toEqual(['a', 'b']);
      expect(() => decoder.finish()).toThrow('a body that ends too early');
    }
  });

  test('a second metadata behind the first, and numbers that are lost, are seen in items whose end is guessed', () => {
    const list = (first: string) =>
      `{"kind":"FooList","apiVersion":"v1","items":[{"metadata":{"managedFields":[1]},${first}},{"metadata":{"name":"b"}}]}`;
    const options = { cutManagedFields: true };
    const second = '"metadata":{"managedFields":[1],"name":"a"}';
    for (const text of [second, second.replace('m', '\\u006d'), second.replace('"managed', '"\\u006danaged')]) {
      expect(whole(list(text), options).items[0]).toEqual({ apiVersion: 'v1', kind: 'Foo', metadata: { name: 'a' } });
    }
    for (const cutManagedFields of [true, false]) {
      const { items } = whole(list('"spec":{"a":9007199254740993,"b":[12345678901234567890]}'), { cutManagedFields });
      expect(lossOf(items[0] as object)?.reasons).toEqual([
        { reason: 'unsafe-integer', paths: ['spec.a', 'spec.b[0]'] },
      ]);
    }
    const long = `-1${'0'.repeat(80)}`;
    for (const members of ['"spec":{"a":9007199254740993}', '"spec":{"a":[-9007199254740993]}', `"a":${long}`]) {
      const { items } = whole(list(members), { ...options, decoder: { decode: () => undefined } });
      expect(lossOf(items[0] as object)?.reasons[0]?.paths).toHaveLength(1);
    }
  });

  test('cut off at every position: an error that says how far it came', () => {
    for (let end = 0; end < body.length - 1; end++) {
      let error: unknown;
      try {
        decode([body.subarray(0, end)]);
      } catch (thrown) {
        error = thrown;
      }
      expect(isDecodeError(error), `after ${end} bytes`).toBe(true);
      expect(error).toMatchObject({
        message: expect.stringMatching(/expected a list in JSON, got .* \((1 item|[02-9] items) came before\)/),
      });
    }
  });

  test('one item of 20 MB among small ones', () => {
    const text = 'x"\\é'.repeat(4 << 20);
    const list = { kind: 'FooList', apiVersion: 'v1', items: [{ kind: 'Foo', apiVersion: 'v1', text }, { a: 1 }] };
    const bytes = Buffer.from(JSON.stringify(list));
    expect(bytes.length).toBeGreaterThan(20 << 20);
    const at = Array.from({ length: Math.floor(bytes.length / 16_384) }, (_, i) => (i + 1) * 16_384);
    const { items } = decode(pieces(bytes, at));
    expect((items[0] as { text: string }).text === text).toBe(true);
    expect(items[1]).toEqual({ apiVersion: 'v1', kind: 'Foo', a: 1 });
  });
});

describe('shapes of lists', () => {
  test('items get their type however late it appears in the list', () => {
    const type = { kind: '"kind":"PodList"', apiVersion: '"apiVersion":"v1"' };
    const items = '"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]';
    for (const members of [
      [type.kind, items, type.apiVersion],
      [type.apiVersion, items, type.kind],
      [items, type.kind, type.apiVersion],
      [type.kind, type.apiVersion, items],
    ]) {
      const text = `{${members.join()}}`;
      for (const chunks of [[Buffer.from(text)], pieces(Buffer.from(text), [...text].keys())]) {
        expect(decode(chunks).items, text).toEqual([
          { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } },
          { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'b' } },
        ]);
      }
    }
  });

  test('keys in any order, white space, and metadata after the items', () => {
    const { items, end } = whole(
      ' \n{ "items" : [ {"apiVersion":"e/v1","kind":"Foo","a":1} , {"apiVersion":"e/v1","kind":"Foo"}\n ] ,' +
        ' "x":{"items":[{"no":1}]}, "metadata":{"resourceVersion":"9"},"kind":"FooList","apiVersion":"e/v1" } ',
    );
    expect(items).toEqual([
      { apiVersion: 'e/v1', kind: 'Foo', a: 1 },
      { apiVersion: 'e/v1', kind: 'Foo' },
    ]);
    expect(end).toEqual({ apiVersion: 'e/v1', kind: 'FooList', metadata: { resourceVersion: '9' }, count: 2 });
  });

  test('the metadata is known before the items when it came before them', () => {
    const decoder = new ListDecoder();
    decoder.push(body.subarray(0, body.indexOf('"items"')));
    expect(decoder.next()).toBeUndefined();
    decoder.push(body.subarray(body.indexOf('"items"')));
    expect(decoder.next()).toBeDefined();
    expect(decoder.metadata?.resourceVersion).toBe('7');
  });

  test('items without type wait until the type of the list is known, and nothing overtakes them', () => {
    const { items } = whole(
      '{"items":[{"a":1},{"apiVersion":"x/v1","kind":"X"}],"kind":"FooList","apiVersion":"e/v1"}',
    );
    expect(items).toEqual([
      { apiVersion: 'e/v1', kind: 'Foo', a: 1 },
      { apiVersion: 'x/v1', kind: 'X' },
    ]);
    expect(Object.keys(items[0] as object)).toEqual(['apiVersion', 'kind', 'a']);
  });

  test('itemType fills in before the type of the list is known', () => {
    const decoder = new ListDecoder({ itemType: { apiVersion: 'v1', kind: 'Pod' } });
    decoder.push(Buffer.from('{"items":[{"a":1},'));
    expect(decoder.next()).toEqual({ apiVersion: 'v1', kind: 'Pod', a: 1 });
  });

  test('an item keeps its own type, half of one is completed, the type comes first', () => {
    const { items } = whole(
      '{"kind":"PodList","apiVersion":"v1","items":[{"kind":"Node","apiVersion":"v2"},{"a":1,"kind":"Node"},{"a":1,"apiVersion":""}]}',
    );
    expect(items.map((item) => JSON.stringify(item))).toEqual([
      '{"kind":"Node","apiVersion":"v2"}',
      '{"apiVersion":"v1","kind":"Node","a":1}',
      '{"apiVersion":"v1","kind":"Pod","a":1}',
    ]);
  });

  test('a mixed List leaves items as they are', () => {
    const { items } = whole('{"kind":"List","apiVersion":"v1","items":[{"kind":"A","apiVersion":"v1"},{"raw":1}]}');
    expect(items).toEqual([{ kind: 'A', apiVersion: 'v1' }, { raw: 1 }]);
  });

  test.each([
    ['null', '{"kind":"PodList","apiVersion":"v1","metadata":{},"items":null}'],
    ['empty', '{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}'],
    ['empty and spread out', '{"kind":"PodList","apiVersion":"v1","metadata":{},"items": [ \n ] }'],
    ['missing', '{"kind":"PodList","apiVersion":"v1","metadata":{}}'],
  ])('items may be %s', (_, text) => {
    expect(whole(text)).toEqual({ items: [], end: { apiVersion: 'v1', kind: 'PodList', metadata: {}, count: 0 } });
  });

  test('of two members of one name the last counts; the key of items may be escaped', () => {
    const { items, end } = whole(
      '{"kind":"AList","kind":"BList","apiVersion":"v1","it\\u0065ms":[{}],"metadata":{"a":1},"metadata":{}}',
    );
    expect(items).toEqual([{ apiVersion: 'v1', kind: 'B' }]);
    expect(end.metadata).toEqual({});
  });
});

describe('anything but a list', () => {
  test('a Status is the error it stands for', () => {
    const status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'too old',
      reason: 'Expired',
      code: 410,
    };
    let error: unknown;
    try {
      whole(JSON.stringify(status));
    } catch (thrown) {
      error = thrown;
    }
    expect(isApiError(error)).toBe(true);
    expect(error).toMatchObject({ reason: 'Expired', code: 410 });
  });

  test.each([
    ['<html><body>502</body></html>', 'a body that begins with "<html><body>502</body></html>"'],
    ['[]', 'a body that begins with "[]"'],
    ['   ', 'an empty body'],
    ['{"kind":"Pod","apiVersion":"v1","metadata":{}}', 'an object of kind "Pod" without items'],
    ['{"kind":"PodList","items":{}}', 'items that are not an array'],
    ['{"kind":"PodList","items":[{},]}', '"]" where an object was expected in items'],
    ['{"kind":"PodList","items":[{} {}]}', '"{" where a comma or the end of items was expected in items'],
    ['{"kind":"PodList","items":[1]}', '"1" where an object was expected in items'],
    ['{"kind":"PodList","items":[null]}', '"n" where an object was expected in items'],
    ['{"kind":"PodList","items":[\u0001]}', 'byte 0x01 where an object was expected in items'],
    ['{"kind":"PodList","items":[{"a":tru}]}', 'an item that is broken JSON'],
    ['{"kind":"PodList","items":[{"a":1]]}', 'an item that is broken JSON'],
    ['{"kind":PodList,"items":[{}]}', 'broken JSON around the items'],
    ['{"kind":"PodList","items":[{}] "a":1}', 'broken JSON around the items'],
    ['{"kind":"PodList","items":[{}]}}', '"}" after the end of the list'],
    ['{"kind":"PodList","items":[{}]}{"a":1}', '"{" after the end of the list'],
    ['{"kind":"PodList","items":[{}],"items":[{}]}', 'a second member "items"'],
  ])('%s', (text, problem) => {
    expect(() => whole(text)).toThrow(`expected a list in JSON, got ${problem}`);
  });

  test('an item past the limit', () => {
    const text = `{"kind":"AList","apiVersion":"v1","items":[{"a":"${'x'.repeat(100)}`;
    expect(() => whole(text, { maxObjectBytes: 100 })).toThrow('an item of more than 100 bytes');
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteWindow } from '../transport/byte-window.js';
import { ListBatch } from './list-batch.js';

const type = { apiVersion: 'v1', kind: 'Foo' };

/** A window that begins with these items, as they stand in a list, and the beginning of another one. */
function windowOf(items: readonly string[], next = '{"metadata":{"name":"next'): ByteWindow {
  const window = new ByteWindow();
  window.push(Buffer.from(`[${items.join(',')},${next}`));
  window.take(1);
  return window;
}

const rest = ({ bytes, start, end }: ByteWindow) => bytes.toString('utf8', start, end);

function all(batch: ListBatch<unknown>): unknown[] {
  const items: unknown[] = [];
  for (let item = batch.next(); item !== undefined; item = batch.next()) items.push(item);
  return items;
}

/** As many as a first call decodes are few, as it is not known how long they are: until nothing is left but the part. */
function decoded(window: ByteWindow, cut: boolean): unknown[] {
  const batch = new ListBatch<unknown>(cut, 1 << 20);
  const items: unknown[] = [];
  while (batch.fill(window, type)) {
    items.push(...all(batch));
    expect(rest(window)[0]).toBe(',');
    window.take(1);
  }
  return items;
}

const pod = (name: string, more = '') =>
  `{"metadata":{"name":"${name}","managedFields":[{"manager":"m","fieldsV1":{"f:a":{}}}]},"spec":{"a":[1,{}]}${more}}`;

describe('what has come together', () => {
  test('is decoded up to the last item that another one follows', () => {
    const window = windowOf([pod('a'), pod('b'), pod('c')]);
    expect(decoded(window, false)).toEqual(['a', 'b', 'c'].map((name) => ({ ...type, ...JSON.parse(pod(name)) })));
    expect(rest(window)).toBe('{"metadata":{"name":"next');
  });

  test('without managedFields', () => {
    const window = windowOf([pod('a'), pod('b'), pod('c')]);
    const items = decoded(window, true);
    expect(items).toEqual(['a', 'b', 'c'].map((name) => ({ ...type, metadata: { name }, spec: { a: [1, {}] } })));
    expect(Object.keys(items[0] as object)).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
  });

  test('all at once when their length is known', () => {
    const batch = new ListBatch<unknown>(true, 1 << 20);
    expect(batch.fill(windowOf([pod('a')]), type)).toBe(true);
    expect(all(batch)).toHaveLength(1);
    expect(batch.fill(windowOf([pod('b'), pod('c'), pod('d'), pod('e')]), type)).toBe(true);
    expect(all(batch)).toHaveLength(4);
  });

  test('items keep the type they have, and half of a type is completed', () => {
    const items = [
      '{"kind":"A","apiVersion":"a/v1","metadata":{"name":"x","managedFields":[]},"spec":1}',
      '{"kind":"","apiVersion":"b/v1","metadata":{"name":"y"}}',
      '{"kind":"C","apiVersion":"","metadata":{}}',
    ];
    const next = '{"kind":"D';
    expect(decoded(windowOf(items, next), false).map((item) => JSON.stringify(item))).toEqual([
      items[0],
      '{"apiVersion":"b/v1","kind":"Foo","metadata":{"name":"y"}}',
      '{"apiVersion":"v1","kind":"C","metadata":{}}',
    ]);
    expect(JSON.stringify(decoded(windowOf(items, next), true)[0])).toBe(
      '{"kind":"A","apiVersion":"a/v1","metadata":{"name":"x"},"spec":1}',
    );
  });

  test('hostile keys are data', () => {
    const [item] = decoded(windowOf(['{"metadata":{"name":"x"},"__proto__":{"a":1},"constructor":2}']), false);
    expect(Object.getPrototypeOf(item)).toBe(Object.prototype);
    expect(Object.entries(item as object).slice(3)).toEqual([
      ['__proto__', { a: 1 }],
      ['constructor', 2],
    ]);
  });
});

describe('left to others, and untouched', () => {
  test.each([
    ['an integer past 2^53', `{"metadata":{},"n":9007199254740993}`],
    ['broken JSON', `{"metadata":{},"n":}`],
    ['an item that is no object', `{"metadata":{}},0`],
    ['an item that is an array', `{"metadata":{}},[1]`],
    ['an item that is null', `{"metadata":{}},null`],
    ['an array that ends', `{"metadata":{}}],[{"metadata":{}}`],
  ])('%s', (_, item) => {
    for (const cut of [false, true]) {
      const window = windowOf([pod('a'), item, pod('b')]);
      const before = rest(window);
      const batch = new ListBatch<unknown>(cut, 1 << 20);
      batch.fill(windowOf([pod('a')]), type);
      all(batch);
      expect(batch.fill(window, type)).toBe(false);
      expect(batch.next()).toBeUndefined();
      expect(rest(window)).toBe(before);
    }
  });

  test('items that begin in an unknown way, and more than an object may have', () => {
    expect(new ListBatch(false, 1 << 20).fill(windowOf(['{"spec":1}']), type)).toBe(false);
    expect(new ListBatch(false, 40).fill(windowOf([pod('a'), pod('b')]), type)).toBe(false);
  });

  test('so are the next eight items then, and twice as many after each failure that follows', () => {
    const batch = new ListBatch<unknown>(false, 1 << 20);
    const bad = () => batch.fill(windowOf([pod('a', ',"n":9007199254740993')]), type);
    const leftAfterwards = () => {
      let left = 0;
      for (; !batch.fill(windowOf([pod('a')]), type); left++) batch.passed();
      return left;
    };
    expect(bad()).toBe(false);
    for (let i = 0; i < 8; i++) batch.passed();
    expect(bad()).toBe(false);
    expect(leftAfterwards()).toBe(16);
    expect(all(batch)).toHaveLength(1);
    expect(bad()).toBe(false);
    expect(leftAfterwards()).toBe(8);
  });

  test('an item is waited for while items come together, but not without end', () => {
    const batch = new ListBatch<unknown>(false, 1 << 20);
    const part = windowOf([], '{"metadata":{"name":"next');
    expect(batch.waits(part)).toBe(false);
    batch.fill(windowOf([pod('a')]), type);
    expect(batch.waits(part)).toBe(true);
    expect(batch.waits(windowOf([], `{"metadata":{"name":"${'x'.repeat(65_536)}`))).toBe(false);
  });
});

describe('managedFields', () => {
  const managed = '"managedFields":[{"a":1}]';
  test.each([
    ['of another member', `{"metadata":{"name":"a"},"spec":{"x":1,${managed}},"status":1}`],
    ['of another member that is listed before', `{"metadata":{"name":"a"},"5":{"x":1,${managed}},"status":1}`],
    ['of an object in an array', `{"metadata":{"name":"a"},"list":[{"metadata":{"x":1,${managed}},"spec":1}]}`],
    ['of an object in an array of arrays', `{"metadata":{"name":"a"},"l":[[{"m":{"x":1,${managed}},"n":1}],[2]]}`],
    ['in metadata, but deeper', `{"metadata":{"name":"a","o":{"x":{"y":1,${managed}},"z":1}},"spec":1}`],
    ['in a type', `{"metadata":{"name":"a"},"kind":{"x":1,${managed}},"apiVersion":"v1","spec":1}`],
    ['in a string', JSON.stringify({ metadata: { name: `x,${managed}},"spec"` }, spec: 1 })],
  ])('that are none of the item itself stay: %s', (_, item) => {
    const batch = new ListBatch<unknown>(true, 1 << 20);
    const isDecoded = batch.fill(windowOf([item]), type);
    expect(all(batch)).toEqual(isDecoded ? [{ ...type, ...JSON.parse(item) }] : []);
  });

  test.each([
    ['two metadata', `{"metadata":{"name":"a",${managed}},"metadata":{"name":"b",${managed}},"spec":1}`],
    ['two in metadata', `{"metadata":{"name":"a",${managed},${managed}},"spec":1}`],
    ['first in metadata', `{"metadata":{${managed},"name":"a"},"spec":1}`],
    ['in the middle of metadata', `{"metadata":{"name":"a",${managed},"uid":"u"},"spec":1}`],
    ['spelled with an escape', `{"metadata":{"name":"a","managed\\u0046ields":[]},"spec":1}`],
    ['no array', `{"metadata":{"name":"a","managedFields":{"a":1}},"spec":1}`],
    ['with arrays inside', `{"metadata":{"name":"a","managedFields":[{"a":[1]}]},"spec":1}`],
    ['with the end in a string', `{"metadata":{"name":"a","managedFields":[{"a":"]}"}]},"spec":1}`],
    ['with the end in a string, twice', `{"metadata":{"name":"a","managedFields":["]},",":1}},{"]},"spec":1}`],
    ['with a bracket in a string', `{"metadata":{"name":"a","managedFields":[{"a":"]},\\"b"}]},"spec":1}`],
    ['a type behind metadata', `{"metadata":{"name":"a",${managed}},"kind":"K","spec":1}`],
  ])('that are left to others: %s', (_, item) => {
    expect(new ListBatch<unknown>(true, 1 << 20).fill(windowOf([item]), type)).toBe(false);
  });

  test('cut from metadata that is the last member, too', () => {
    const item = `{"metadata":{"name":"a",${managed}}}`;
    expect(decoded(windowOf([item, item]), true)).toEqual([0, 0].map(() => ({ ...type, metadata: { name: 'a' } })));
  });
});

describe('whatever is decoded is what parsing one by one gives', () => {
  const bait = '}},{"metadata":{"name":"x","managedFields":[]},0,{"metadata":{';
  const inner = { metadata: { name: 'inner', managedFields: [{ a: 1 }] }, spec: {} };
  const value = fc.constantFrom<unknown>(0, '0', '', bait, [0], [inner, inner], [[inner], 0, [inner]], inner, null, {
    managedFields: [1],
    metadata: { a: 1, managedFields: [2] },
  });
  const metadata = fc.dictionary(
    fc.constantFrom('name', 'managedFields', 'labels', '7', 'uid'),
    fc.oneof(value, fc.constant([{ manager: 'm' }])),
    { maxKeys: 4 },
  );
  const item = fc
    .tuple(
      fc.constantFrom<object>({}, { kind: 'K', apiVersion: 'k/v1' }, { apiVersion: 'k/v1', kind: 'K' }),
      metadata,
      fc.dictionary(fc.constantFrom('spec', 'status', '5', 'data'), value, { maxKeys: 3 }),
    )
    .map(([head, meta, others]) => ({ ...head, metadata: meta, ...others }));

  test('split as it may be', () => {
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 6 }), fc.boolean(), (list, cut) => {
        const window = windowOf(list.map((each) => JSON.stringify(each)));
        const items = decoded(window, cut);
        const expected = list.slice(0, items.length).map((each) => {
          const { managedFields, ...kept } = each.metadata;
          return { ...type, ...each, metadata: cut ? kept : each.metadata };
        });
        expect(items).toEqual(JSON.parse(JSON.stringify(expected)));
      }),
      { numRuns: Number(process.env.RIATA_RUNS ?? 300) },
    );
  });
});

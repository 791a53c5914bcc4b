import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../object/meta.js';
import type { FramedObject } from '../../object/scan/decode-object.js';
import { freeze } from '../../object/value/freeze.js';
import { lossOf } from '../../object/value/lossy.js';
import { WatchDecoder } from '../../rest/stream/watch-decoder.js';
import { StoreDecoder } from './store-decoder.js';

/** Follows a watch as a cache does. Counts what came out without a scan. */
function follower() {
  const stored = new Map<string, KubeObject>();
  const store = new StoreDecoder((key) => stored.get(key));
  const count = { tried: 0, made: 0 };
  const decoder = {
    decode: (framed: FramedObject) => store.decode(framed),
    decodeUnscanned(bytes: Uint8Array, start: number, end: number) {
      const object = store.decodeUnscanned(bytes, start, end);
      count.tried++;
      if (object !== undefined) count.made++;
      return object;
    },
  };
  const stream = new WatchDecoder<KubeObject>({ cutManagedFields: true, decoder });
  const take = (line: string): KubeObject => {
    stream.push(Buffer.from(`${line}\n`));
    const event = stream.next();
    if (event?.type !== 'ADDED' && event?.type !== 'MODIFIED')
      throw new Error(`expected an object, got ${event?.type}`);
    const { name, namespace } = event.object.metadata;
    const key = namespace ? `${namespace}/${name}` : `${name}`;
    const object = freeze(store.share(event.object, stored.get(key)));
    stored.set(key, object);
    return object;
  };
  return { take, count };
}

const line = (type: string, object: string) => `{"type":"${type}","object":${object}}`;
const managed = (time: string) => [
  { manager: 'kubelet', time, fieldsV1: { 'f:a': { 'k:{"x":"y"}': {}, 'f:b,': {} } } },
];

describe('versions of an object are made without a scan', () => {
  const layouts: Record<string, (version: string, time: string) => object> = {
    'as typed objects have it': (resourceVersion, time) => ({
      ...{ name: 'a', namespace: 'ns', uid: 'u', resourceVersion, generation: 3, labels: { app: 'web' } },
      managedFields: managed(time),
    }),
    'as custom resources have it': (resourceVersion, time) => ({
      ...{ annotations: { note: '"managedFields":[' }, generation: 3, managedFields: managed(time) },
      ...{ name: 'a', namespace: 'ns', resourceVersion, uid: 'u' },
    }),
    'without managedFields': (resourceVersion) => ({ name: 'a', resourceVersion, uid: 'u' }),
  };
  test.each(Object.entries(layouts))('%s', (_, metadataOf) => {
    const { take, count } = follower();
    const object = (version: string, count: number) => ({
      ...{ kind: 'Pod', apiVersion: 'v1', metadata: metadataOf(version, `t${count}`) },
      ...{ spec: { nodeName: 'n-1', text: 'x'.repeat(500) }, status: { count } },
    });
    const take1 = (type: string, version: string, at: number) => take(line(type, JSON.stringify(object(version, at))));
    const before = JSON.stringify(object('7', 0)).replaceAll('"u"', '"w"').replaceAll('"a"', '"b"');
    take(line('ADDED', before));
    take1('ADDED', '8', 0);
    // Lines are trusted from the second on.
    let last = take1('MODIFIED', '9', 1);
    expect(count).toEqual({ tried: 1, made: 1 });
    for (const [at, version] of ['10', '11', '11', '1234', '9'].entries()) {
      const next = take1('MODIFIED', version, at);
      const { managedFields: _managed, ...metadata } = object(version, at).metadata as Record<string, unknown>;
      expect(JSON.parse(JSON.stringify(next))).toEqual({ ...object(version, at), metadata });
      expect(next.metadata.labels).toBe(last.metadata.labels);
      last = next;
    }
    expect(count).toEqual({ tried: 6, made: 6 });
  });
});

test('where metadata change with every version, few are tried', () => {
  const { take, count } = follower();
  const object = (at: number) => ({
    ...{ kind: 'Lease', apiVersion: 'v1', metadata: { name: 'a', resourceVersion: `${at}`, labels: { at: `${at}` } } },
  });
  for (let at = 0; at < 200; at++) take(line(at === 0 ? 'ADDED' : 'MODIFIED', JSON.stringify(object(at))));
  expect(count.made).toBe(0);
  expect(count.tried).toBeLessThan(30);
});

test('whatever comes, it is what a parser makes of it', () => {
  const text = fc.constantFrom('a', ']', '[', '"', '\\', '},"x', ']},"x":[', '"managedFields":[', 'é', '');
  const number = fc.constantFrom('1', '12345678901234567', '1e400', '123456789012345678901e5', '0.5', '-3');
  const entry = fc.dictionary(text, fc.oneof(text, fc.array(text, { maxLength: 2 })), { maxKeys: 3 });
  const fields = fc.oneof(
    { weight: 4, arbitrary: fc.string({ maxLength: 9, unit: 'grapheme-ascii' }).map((manager) => [{ manager }]) },
    { weight: 1, arbitrary: fc.array(entry, { maxLength: 2 }) },
  );
  const member = fc.record(
    {
      annotations: fc.dictionary(fc.constantFrom('a', 'managedFields'), text, { maxKeys: 2 }),
      generation: fc.constantFrom(1, 2, 10),
      managedFields: fc.oneof({ weight: 4, arbitrary: fields }, { weight: 1, arbitrary: fc.constantFrom(null, {}) }),
      labels: fc.record({ app: text, resourceVersion: text }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  );
  const version = fc.oneof(
    { weight: 12, arbitrary: fc.integer({ min: 1, max: 200_000 }).map(String) },
    { weight: 1, arbitrary: fc.constantFrom('', '"', 'x'.repeat(70)) },
  );
  const seldom = (...texts: string[]) =>
    fc.oneof({ weight: 15, arbitrary: fc.constant('') }, { weight: 1, arbitrary: fc.constantFrom(...texts) });
  const change = fc.record({
    version,
    member: fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: member }),
    managedFields: fields,
    number: fc.oneof({ weight: 8, arbitrary: fc.constant('1') }, { weight: 1, arbitrary: number }),
    status: text,
    isWide: fc.boolean(),
    odd: seldom(',"metadata":{"name":"a","managedFields":[1]}', ',"status":1', ',"more":[2]'),
    first: seldom('"count":12345678901234567890,', '"spec":{},'),
  });
  const layout = fc.constantFrom('typed', 'sorted');
  let made = 0;
  const property = fc.property(
    layout,
    member,
    fc.array(change, { minLength: 4, maxLength: 10 }),
    (order, base, changes) => {
      const { take, count } = follower();
      let own = base;
      for (const [at, { version, member, managedFields, number, status, odd, first, isWide }] of changes.entries()) {
        own = member ?? (own.managedFields === undefined ? own : { ...own, managedFields });
        const members = { name: 'a', ...own, resourceVersion: version };
        const sorted = Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
        const { managedFields: last, ...rest } = members;
        const metadata =
          order === 'sorted' ? sorted : { ...rest, ...(last === undefined ? {} : { managedFields: last }) };
        const spec = `{"text":"${'x'.repeat(400)}${isWide ? 'é' : ''}","n":${at === 0 ? 1 : number}}`;
        const object =
          `{${first}"kind":"Pod","apiVersion":"v1","metadata":${JSON.stringify(metadata)},` +
          `"spec":${spec},"status":${JSON.stringify({ status })}${odd}}`;
        const given = line(at === 0 ? 'ADDED' : 'MODIFIED', object);
        const plain = new WatchDecoder<KubeObject>({ cutManagedFields: true });
        plain.push(Buffer.from(`${given}\n`));
        const expected = plain.next();
        const got = take(given);
        // Where only the order of members differs, the version before is kept.
        expect(JSON.parse(JSON.stringify(got))).toEqual(JSON.parse(JSON.stringify(expected?.object)));
        expect(lossOf(got)).toEqual(lossOf(expected?.object as object));
      }
      made += count.made;
    },
  );
  fc.assert(property, { numRuns: Number(process.env.RIATA_RUNS ?? 120) });
  // Whether it is a test of that at all.

  expect(made).toBeGreaterThan(100);
});

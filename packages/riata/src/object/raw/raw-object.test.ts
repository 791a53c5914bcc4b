import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { accessor, isKubeObject } from '../accessor.js';
import { encodeJson } from '../encode-json.js';
import { applyMergePatch, createMergePatch } from '../patch/merge-patch.js';
import { decodeObject } from '../scan/decode-object.js';
import { parseSelector } from '../selector/label-selector.js';
import { clone } from '../value/clone.js';
import { edit } from '../value/edit.js';
import { equal } from '../value/equal.js';
import { freeze, isFrozenDeep } from '../value/freeze.js';
import { jsonObject } from '../value/json.fixture.js';
import { isLossyObjectError, lossOf, refuseLossy } from '../value/lossy.js';
import { share } from '../value/share.js';
import { isRawObject, rawObjects } from './raw-object.js';
import { identityOf } from './raw-parts.js';

interface Pod {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly nodeName: string; readonly containers: readonly { readonly image: string }[] };
  readonly status?: { readonly phase: string };
}

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', labels: { app: 'web' } },
  spec: { nodeName: 'node-1', containers: [{ image: 'web:1' }] },
  status: { phase: 'Running' },
};
const makeObject = rawObjects();
const fromText = (text: string, options = {}) => decodeObject<object>(Buffer.from(text), { makeObject, ...options });
const rawPod = (change: (text: string) => string = (text) => text) => {
  const object = fromText(change(JSON.stringify(pod)));
  expect(isRawObject(object)).toBe(true);
  return object as Pod;
};

describe('a raw object is like any other', () => {
  test('its members are own, enumerable, in order, and frozen', () => {
    const object = rawPod();
    expect(Object.keys(object)).toEqual(['apiVersion', 'kind', 'metadata', 'spec', 'status']);
    expect(Reflect.ownKeys(object)).toEqual(Object.keys(object));
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
    expect(object).toStrictEqual(pod);
    expect(isFrozenDeep(object)).toBe(true);
    expect(() => Object.assign(object.spec, { nodeName: 'x' })).toThrow(TypeError);
    expect(() => Object.assign(object, { spec: {} })).toThrow(TypeError);
  });

  test('what is read keeps its identity', () => {
    const object = rawPod();
    expect(object.spec).toBe(object.spec);
    expect((Object.create(object) as Pod).spec).toBe(object.spec);
  });

  test('spread, JSON, structuredClone', () => {
    expect({ ...rawPod() }).toStrictEqual(pod);
    expect(isRawObject({ ...rawPod() })).toBe(false);
    expect(JSON.stringify(rawPod())).toBe(JSON.stringify(pod));
    expect(encodeJson(rawPod())).toBe(JSON.stringify(pod));
    expect(structuredClone(rawPod())).toEqual(pod);
  });

  test('clone may be changed', () => {
    const object = rawPod();
    const copy = clone(object);
    copy.spec.nodeName = 'node-2';
    copy.metadata.labels.tier = 'x';
    expect(object).toStrictEqual(pod);
    expect(copy.spec.nodeName).toBe('node-2');
  });

  test('edit shares what did not change', () => {
    const object = rawPod();
    const edited = edit(object, (draft) => {
      draft.spec.nodeName = 'node-2';
    });
    expect(edited).toEqual({ ...pod, spec: { ...pod.spec, nodeName: 'node-2' } });
    expect(edited.metadata).toBe(object.metadata);
    expect(edited.spec.containers).toBe(object.spec.containers);
    expect(Object.isFrozen(edited)).toBe(true);
    expect(edit(object, () => {})).toBe(object);
  });

  test('equal, freeze, selectors, accessor, patches', () => {
    expect(equal(rawPod(), pod) && equal(pod, rawPod()) && equal(rawPod(), rawPod())).toBe(true);
    expect(
      equal(
        rawPod(),
        rawPod((text) => text.replace('Running', 'Failed')),
      ),
    ).toBe(false);
    const object = rawPod();
    expect(freeze(object)).toBe(object);
    expect(isKubeObject(object)).toBe(true);
    expect(accessor(object).name).toBe('web');
    expect(parseSelector('app=web').matches(object.metadata.labels)).toBe(true);
    expect(createMergePatch(object, { ...pod, status: { phase: 'Failed' } })).toEqual({ status: { phase: 'Failed' } });
    expect(applyMergePatch(object, { status: null })).toEqual({ ...pod, status: undefined });
  });
});

describe('sharing', () => {
  test('by text: parts that did not change are the same, read or not', () => {
    const previous = rawPod();
    const next = share(
      previous,
      rawPod((text) => text.replace('Running', 'Failed')),
    );
    expect(isRawObject(next)).toBe(true);
    expect(next.spec).toBe(previous.spec);
    expect(next.metadata).toBe(previous.metadata);
    expect([previous.status?.phase, next.status?.phase]).toEqual(['Running', 'Failed']);
  });

  test('with a part more, or another order', () => {
    const previous = rawPod((text) => text.replace('"spec":', '"data":{},"spec":').replace(/,"status".*/, '}'));
    const next = share(previous, rawPod());
    expect(next.spec).toBe(previous.spec);
    expect(next).toEqual(pod);
  });

  test('an equal object is the previous one, unless its scalars or losses differ', () => {
    const previous = rawPod();
    expect(share(previous, rawPod())).toBe(previous);
    const other = rawPod((text) => text.replace('"v1"', '"v2"'));
    expect(share(previous, other)).toBe(other);
  });

  test('with a parsed object: next stays what it is', () => {
    const next = rawPod();
    expect(share(pod, next)).toBe(next);
    const parsed = share(next, clone(pod) as Pod);
    expect(parsed).toBe(next);
  });
});

describe('text', () => {
  test.each([
    ['Latin-1', 'é'],
    ['beyond', '日本語 🚀'],
    ['escapes', '\\"\\\\\\u00e9\\n}{]['],
  ])('%s', (_, value) => {
    const text = `{"metadata":{"name":"${value}"},"data":{"a":"${value}"},"note":"${value.repeat(40)}"}`;
    const object = fromText(text);
    expect(isRawObject(object)).toBe(true);
    expect(object).toStrictEqual(JSON.parse(text));
    const previous = fromText(text);
    expect(share(previous, object)).toBe(previous);
  });

  test.each([
    '{"metadata":{"name":"a"},"metadata":{"name":"b"}}',
    '{"spec":{"a":1},"__proto__":{"b":1}}',
    '{"spec":{},"10":{},"2":[]}',
    '{"\\u0073pec":{"a":1},"spec":{"a":2}}',
  ])('%s is parsed at once', (text) => {
    const object = fromText(text);
    expect(isRawObject(object)).toBe(false);
    expect(JSON.stringify(object)).toBe(JSON.stringify(JSON.parse(text)));
  });

  test.each(['{"spec":{"a":1}', '{"spec":{"a":1},}', '{"spec" {"a":1}}', '{"a":nul}', '{"spec":{}"b":1}', '{"a":"b}'])(
    '%s is refused',
    (text) => {
      expect(() => fromText(text)).toThrow(SyntaxError);
    },
  );

  test('what is broken inside a member shows when it is read, without quoting it', () => {
    const object = fromText('{"data":{"secret":hunter2}}') as { data: unknown };
    expect(() => object.data).toThrow('broken JSON');
    expect(() => object.data).not.toThrow('hunter2');
  });

  test('any object equals what JSON.parse makes of it, managedFields cut or not', () => {
    fc.assert(
      fc.property(
        jsonObject(),
        fc.string({ unit: 'grapheme' }),
        fc.boolean(),
        fc.boolean(),
        (base, s, pretty, twice) => {
          const object = {
            ...base,
            metadata: { name: s, managedFields: [{ [s]: s }], labels: { [s]: s } },
            long: s.repeat(9),
          };
          let text = JSON.stringify(object, null, pretty ? 2 : undefined);
          if (twice) text = text.replace(/^\{/, '{"metadata":{"managedFields":[]},');
          const expected = JSON.parse(text) as { metadata: Record<string, unknown> };
          const whole = fromText(text);
          expect(equal(whole, expected)).toBe(true);
          expect(JSON.stringify(whole)).toBe(JSON.stringify(expected));
          delete expected.metadata.managedFields;
          const cut = fromText(text, { cutManagedFields: true });
          expect(equal(cut, expected)).toBe(true);
          expect(JSON.stringify(cut)).toBe(JSON.stringify(expected));
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('with the version before at hand', () => {
  const after = (previous: object, text: string) =>
    decodeObject<Pod>(Buffer.from(text), {
      makeObject: rawObjects({ previousOf: () => previous }),
      cutManagedFields: true,
    });
  const note = 'x'.repeat(300);

  test('large parts that are the same are shared as they come', () => {
    const noted = JSON.stringify({ ...pod, spec: { ...pod.spec, note } });
    const previous = fromText(noted) as Pod;
    const next = after(previous, noted.replace('Running', 'Failed').replace('"name"', '"managedFields":[{}],"name"'));
    expect(isRawObject(next)).toBe(true);
    expect(next).toStrictEqual({ ...pod, spec: { ...pod.spec, note }, status: { phase: 'Failed' } });
    expect(next.spec).toBe(previous.spec);
    expect(share(previous, next)).toBe(next);
    expect(after(next, noted).status).toEqual({ phase: 'Running' });
  });

  test('one that only begins like it, or has its characters as bytes, is another', () => {
    const text = (spec: object) => JSON.stringify({ metadata: { name: 'a' }, spec });
    const specs = [
      { note },
      { note: `${note}","b":"` },
      { note: `Ã©${note}` },
      { note: `é${note}` },
      { note, more: 1 },
    ];
    for (const before of specs) {
      for (const spec of specs) expect(after(fromText(text(before)), text(spec)).spec).toStrictEqual(spec);
    }
  });

  test('whatever both are', () => {
    const spec = fc
      .tuple(jsonObject(), fc.constantFrom(note, 'é'.repeat(200), ''))
      .map(([base, long]) => ({ base, long }));
    const status = fc.option(jsonObject(), { nil: undefined });
    fc.assert(
      fc.property(spec, spec, status, fc.boolean(), (first, second, more, isSame) => {
        const before = fromText(JSON.stringify({ metadata: { name: 'a' }, spec: first, status: more }));
        const text = JSON.stringify({ metadata: { name: 'b' }, spec: isSame ? first : second, status: more });
        expect(JSON.stringify(after(before, text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: 100 },
    );
  });

  test('not of what has lost something', () => {
    const lossy = fromText(`{"metadata":{"name":"a"},"spec":{"n":9007199254740993,"note":"${note}"}}`);
    const next = after(lossy, `{"metadata":{"name":"a"},"spec":{"n":9007199254740993,"note":"${note}"},"status":{}}`);
    expect(lossOf(next)?.reasons).toEqual([{ reason: 'unsafe-integer', paths: ['spec.n'] }]);
  });
});

test('identityOf: of a raw object its metadata is parsed once, however long nobody asks', () => {
  const metadata = { namespace: 'shop', name: 'web', uid: 'u-1', resourceVersion: '7', labels: { app: 'web' } };
  const identity = { namespace: 'shop', name: 'web', uid: 'u-1', resourceVersion: '7' };
  const object = fromText(JSON.stringify({ ...pod, metadata })) as Pod;
  const parse = vi.spyOn(JSON, 'parse');
  try {
    expect(identityOf(object)).toEqual(identity);
    expect(parse).toHaveBeenCalledTimes(1);
    const other = share(object, fromText(JSON.stringify({ ...pod, metadata: { ...metadata, uid: 'u-2' } }))) as Pod;
    parse.mockClear();
    expect(identityOf(object)).toEqual(identity);
    expect(parse).not.toHaveBeenCalled();
    expect(identityOf(other)).toEqual({ ...identity, uid: 'u-2' });
  } finally {
    parse.mockRestore();
  }
  const plain = { metadata };
  expect(identityOf(plain)).toBe(metadata);
  expect(identityOf(fromText('{"kind":"A","spec":{}}') as { metadata?: object })).toBe(undefined);
});

test('integers past 2^53 are remembered, through clone too', () => {
  const object = fromText('{"kind":"A","metadata":{"name":"a"},"spec":{"n":12345678901234567890}}');
  expect(isRawObject(object)).toBe(true);
  expect(lossOf(object)?.reasons).toEqual([{ reason: 'unsafe-integer', paths: ['spec.n'] }]);
  try {
    refuseLossy(clone(object), 'update');
    expect.unreachable();
  } catch (error) {
    expect(isLossyObjectError(error)).toBe(true);
  }
  const same = fromText('{"kind":"A","metadata":{"name":"a"},"spec":{"n":12345678901234567890}}');
  expect(share(object, same)).toBe(object);
});

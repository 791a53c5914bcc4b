import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../object/meta.js';
import { decodeObject, type ObjectDecoder } from '../../object/scan/decode-object.js';
import { clone } from '../../object/value/clone.js';
import { equal } from '../../object/value/equal.js';
import { freeze, isFrozenDeep } from '../../object/value/freeze.js';
import { jsonObject } from '../../object/value/json.fixture.js';
import { lossOf, markLossy } from '../../object/value/lossy.js';
import { ListDecoder } from '../../rest/stream/list-decoder.js';
import { WatchDecoder } from '../../rest/stream/watch-decoder.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { onAbort } from '../../runtime/signals.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { OrderedFIFO } from '../informer/ordered-fifo.js';
import { SharedIndexInformer } from '../informer/shared-index-informer.js';
import type { ListerWatcher } from '../reflector/list-watch.js';
import { RecentStrings } from './recent-strings.js';
import { StoreDecoder } from './store-decoder.js';

interface Pod extends KubeObject {
  readonly spec: { readonly nodeName: string; readonly containers: readonly { readonly image: string }[] };
  readonly status: { readonly phase: string; readonly images: readonly string[] };
}

const template = { image: 'registry.example.com/shop/web:v1.2.3', env: [{ name: 'REGION', value: 'eu-central-1' }] };
function pod(name: string, phase = 'Running', owner = 'rs-1'): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ name, namespace: 'shop', uid: `uid-of-${name}`, resourceVersion: '1', creationTimestamp: '' },
      labels: { app: 'web' },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: `uid-of-${owner}` }],
    },
    spec: { nodeName: `node-of-${name}`, containers: [template] },
    status: { phase, images: [template.image] },
  };
}

function through() {
  const decoder = new StoreDecoder();
  const decode = (object: object) =>
    decodeObject<Pod>(Buffer.from(JSON.stringify(object)), { cutManagedFields: true, decoder });
  return { decode, share: (next: Pod, previous?: Pod) => decoder.share(next, previous) };
}

describe('what is shared', () => {
  test('a version takes over what did not change, and is the one before when nothing did', () => {
    const { decode, share } = through();
    const first = freeze(share(decode(pod('a')), undefined));
    const second = freeze(share(decode(pod('a', 'Failed')), first));
    expect(second).toEqual(pod('a', 'Failed'));
    expect(second.spec).toBe(first.spec);
    expect(second.status).not.toBe(first.status);
    expect(share(decode(pod('a', 'Failed')), second)).toBe(second);
    expect(isFrozenDeep(second)).toBe(true);
  });

  test('whatever comes, what is stored is equal to it, in the same order of keys', () => {
    const objects = fc.array(jsonObject(), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(objects, fc.boolean(), (bases, freezes) => {
        const { decode, share } = through();
        let previous: Pod | undefined;
        for (const base of bases) {
          const object = { ...base, metadata: { name: 'a', labels: base } };
          const next = decode(object);
          const expected = JSON.stringify(next);
          for (const known of [undefined, previous]) {
            const admitted = share(decode(object), known);
            if (freezes) freeze(admitted);
            expect(equal(admitted, next)).toBe(true);
            if (known === undefined) expect(JSON.stringify(admitted)).toBe(expected);
            previous = admitted;
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  test('losses are those of the new version', () => {
    const { decode, share } = through();
    const first = share(decode(pod('a')), undefined);
    const lossy = markLossy(decode(pod('a')), 'transformed');
    const second = share(lossy, first);
    expect(second).toEqual(first);
    expect(lossOf(second)?.reasons.map(({ reason }) => reason)).toEqual(['transformed']);
    expect(lossOf(first)).toBeUndefined();
  });

  test('frozen objects, as they come from own writes, are taken in', () => {
    const { share } = through();
    const first = share(freeze(clone(pod('a')) as Pod), undefined);
    const second = share(freeze(clone(pod('a', 'Failed')) as Pod), first);
    expect(second).toEqual(pod('a', 'Failed'));
    expect(first).toEqual(pod('a'));
    expect(second.spec).toBe(first.spec);
  });
});

test('parts that are frozen, as transforms leave them, are taken in', () => {
  const { decode, share } = through();
  const first = share(decode(pod('a')), undefined);
  const second = share({ ...decode(pod('b')), status: freeze(decode(pod('b')).status) }, undefined);
  expect(second).toEqual(pod('b'));
  const third = share({ ...decode(pod('a', 'Failed')), status: freeze(decode(pod('a', 'Failed')).status) }, first);
  expect(third).toEqual(pod('a', 'Failed'));
  expect(third.spec).toBe(first.spec);
  expect(first).toEqual(pod('a'));
});

test('versions that are decoded before the one before them is stored share with that one all the same', () => {
  const stored = new Map<string, Pod>();
  const decoder = new StoreDecoder((key) => stored.get(key));
  const decode = (object: Pod) => decodeObject<Pod>(Buffer.from(JSON.stringify(object)), { decoder });
  const store = (next: Pod) => {
    const shared = decoder.share(next, stored.get('shop/a'));
    stored.set('shop/a', shared);
    return shared;
  };
  const version = (resourceVersion: string, phase: string) => {
    const { metadata, ...rest } = pod('a', phase);
    return { ...rest, metadata: { ...metadata, resourceVersion } };
  };
  const first = store(decode(version('1', 'Pending')));
  // As events that arrive together: all are decoded along the first.
  const burst = [version('2', 'Running'), version('3', 'Running'), version('3', 'Running')].map(decode);
  const [second, third, same] = burst.map(store);
  expect(second).toEqual(version('2', 'Running'));
  expect(second?.spec).toBe(first.spec);
  expect(third).toEqual(version('3', 'Running'));
  expect(third?.spec).toBe(first.spec);
  expect(third?.status).toBe(second?.status);
  expect(same).toBe(third);
});

describe('objects share', () => {
  test('what they have in common with the one before, when it is frozen too', () => {
    const { decode, share } = through();
    const a = freeze(share(decode(pod('a')), undefined));
    const b = freeze(share(decode(pod('b')), undefined));
    expect(b).toEqual(pod('b'));
    expect(b.spec.containers).toBe(a.spec.containers);
    expect(b.metadata.labels).toBe(a.metadata.labels);
    expect(b.spec).not.toBe(a.spec);
  });

  test('what they have in common with another of the same owner', () => {
    const { decode, share } = through();
    const a = share(decode(pod('a')), undefined);
    const other = { ...pod('x', 'Running', 'rs-2'), spec: { nodeName: 'n', containers: [] }, status: {} };
    share(decode(other), undefined);
    const b = share(decode(pod('b')), undefined);
    expect(b.spec.containers).toBe(a.spec.containers);
  });
});

test('strings are equal to what was given, whatever is remembered', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 40 }), { maxLength: 50 }), (texts) => {
      const strings = new RecentStrings(4);
      for (const text of [...texts, ...texts]) expect(strings.intern(text)).toBe(text);
    }),
  );
});

describe('objects off the wire', () => {
  const bytes = (text: string) => Buffer.from(text);
  const decoder = new StoreDecoder();

  test('items of a list, with their type filled in', () => {
    const { apiVersion: _, kind: __, ...bare } = pod('a');
    const items = [bare, pod('b'), { ...bare, metadata: { ...bare.metadata, managedFields: [{ manager: 'x' }] } }];
    const stream = new ListDecoder<Pod>({ decoder, cutManagedFields: true });
    stream.push(bytes(`{"kind":"PodList","apiVersion":"v1","metadata":{},"items":${JSON.stringify(items)}}`));
    const found = [stream.next(), stream.next(), stream.next()] as Pod[];
    expect(stream.finish().count).toBe(3);
    expect(found).toEqual([pod('a'), pod('b'), pod('a')]);
    expect(Object.keys(found[0] as Pod)).toEqual(['apiVersion', 'kind', 'metadata', 'spec', 'status']);
  });

  test('an item that holds what looks like the beginning of another', () => {
    const inner = [{ metadata: { a: 1 } }, { metadata: { b: 1 } }];
    const item = { metadata: { name: 'a' }, spec: { inner }, status: {} };
    const stream = new ListDecoder<Pod>({ decoder, cutManagedFields: true });
    stream.push(
      bytes(`{"kind":"PodList","apiVersion":"v1","items":[${JSON.stringify(item)},${JSON.stringify(item)}]}`),
    );
    const found = [stream.next(), stream.next()];
    const typed = { apiVersion: 'v1', kind: 'Pod', ...item };
    expect(found).toEqual([typed, typed]);
  });

  test('events of a watch; bookmarks and errors are parsed', () => {
    const bookmark = { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: '9' } };
    const stream = new WatchDecoder<Pod>({ decoder, cutManagedFields: true });
    stream.push(bytes(`{"type":"ADDED","object":${JSON.stringify(pod('a'))}}\n`));
    const added = stream.next();
    stream.push(bytes(`{"type":"BOOKMARK","object":${JSON.stringify(bookmark)}}\n`));
    const marked = stream.next();
    expect(added).toEqual({ type: 'ADDED', object: pod('a') });
    expect(marked).toEqual({ type: 'BOOKMARK', object: bookmark });
  });
});

test.each<[string, object, boolean]>([
  ['by default, objects are decoded along what is stored', {}, true],
  ['a transform may write to its argument: objects are parsed for it', { transform: (obj: Pod) => obj }, false],
  ['so they are for a queue of the user', { newQueue: () => new OrderedFIFO<Pod>() }, false],
])('%s', async (_, options, isDecoded) => {
  const clock = new VirtualClock();
  const decoders: (ObjectDecoder | undefined)[] = [];
  const source: ListerWatcher<Pod> = {
    list: async ({ decoder }) => {
      decoders.push(decoder);
      return { apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '1' }, items: [] };
    },
    watch: ({ decoder, signal }) => {
      decoders.push(decoder);
      return new Promise((__, reject) => onAbort(signal, () => reject(new Error('stopped'))));
    },
  };
  const runtime = { clock, log: silentLogger };
  const informer = new SharedIndexInformer<Pod>(source, { useWatchList: false, runtime, ...options });
  const stop = new AbortController();
  const ended = informer.run({ signal: stop.signal });
  await clock.settle();
  expect(decoders.map((decoder) => decoder !== undefined)).toEqual([isDecoded, isDecoded]);
  stop.abort();
  await ended;
});

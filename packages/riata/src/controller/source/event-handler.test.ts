import { describe, expect, test } from 'vitest';
import { StoredChange } from '../../cache/informer/change.js';
import { Deployment, Node } from '../../kinds/index.js';
import type { KubeObject, OwnerReference } from '../../object/meta.js';
import type { Request } from '../loop/request.js';
import {
  type EventHandler,
  enqueueRequestForObject,
  enqueueRequestForOwner,
  enqueueRequestsFromMap,
  handlerFuncs,
} from './event-handler.js';

function pod(
  name: string,
  ownerReferences: readonly OwnerReference[] = [],
  labels?: Record<string, string>,
): KubeObject {
  const metadata = { namespace: 'shop', name, uid: 'u', resourceVersion: '1', creationTimestamp: '' };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, ownerReferences, labels } };
}

const owner = (name: string, controller: boolean, apiVersion = 'apps/v1', kind = 'Deployment') => ({
  ...{ apiVersion, kind, name, controller },
  uid: name,
});

function keysOf(handler: EventHandler, old: KubeObject | undefined, now: KubeObject | undefined): string[] {
  const keys: string[] = [];
  const type = old === undefined ? 'Added' : now === undefined ? 'Deleted' : 'Updated';
  handler(new StoredChange(type, 'shop/p', old, now), ({ namespace, name }: Request) => {
    keys.push(namespace === undefined ? name : `${namespace}/${name}`);
  });
  return keys;
}

test('the object itself, also when it is gone', () => {
  const handler = enqueueRequestForObject();
  expect(keysOf(handler, undefined, pod('p'))).toEqual(['shop/p']);
  expect(keysOf(handler, pod('p'), pod('p'))).toEqual(['shop/p']);
  expect(keysOf(handler, pod('p'), undefined)).toEqual(['shop/p']);
});

describe('owners', () => {
  test('the one that manages it, of any version of the kind', () => {
    const handler = enqueueRequestForOwner(Deployment);
    const owned = pod('p', [owner('a', false), owner('b', true, 'apps/v1beta1'), owner('c', true, 'other/v1')]);
    expect(keysOf(handler, undefined, owned)).toEqual(['shop/b']);
    expect(keysOf(handler, undefined, pod('p', [owner('x', true, 'apps/v1', 'ReplicaSet')]))).toEqual([]);
  });

  test('all of them, if asked for', () => {
    const handler = enqueueRequestForOwner(Deployment, { onlyController: false });
    expect(keysOf(handler, undefined, pod('p', [owner('a', false), owner('b', true)]))).toEqual(['shop/a', 'shop/b']);
  });

  test('an owner that lost it hears of that', () => {
    const handler = enqueueRequestForOwner(Deployment);
    expect(keysOf(handler, pod('p', [owner('a', true)]), pod('p', [owner('b', true)]))).toEqual(['shop/b', 'shop/a']);
    expect(keysOf(handler, pod('p', [owner('a', true)]), undefined)).toEqual(['shop/a']);
  });

  test('one that keeps it hears of a change once, whether references are held once or not', () => {
    const handler = enqueueRequestForOwner(Deployment);
    expect(keysOf(handler, pod('p', [owner('a', true)]), pod('p', [owner('a', true)]))).toEqual(['shop/a']);
    const references = [owner('a', true)];
    expect(keysOf(handler, pod('p', references), pod('p', references))).toEqual(['shop/a']);
  });

  test('beside the namespaces', () => {
    const handler = enqueueRequestForOwner(Node);
    expect(keysOf(handler, undefined, pod('p', [owner('n1', true, 'v1', 'Node')]))).toEqual(['n1']);
  });
});

test('a map: of the object as it was and as it is', () => {
  const handler = enqueueRequestsFromMap((object) => [
    { namespace: 'shop', name: object.metadata.labels?.app ?? 'none' },
  ]);
  const old = pod('p', [], { app: 'a' });
  const now = pod('p', [], { app: 'b' });
  expect(keysOf(handler, old, now)).toEqual(['shop/b', 'shop/a']);
  expect(keysOf(handler, now, now)).toEqual(['shop/b']);
  expect(keysOf(handler, old, undefined)).toEqual(['shop/a']);
});

test('a map: what the object leads to both before and after is put in line once, also by one that takes its time', async () => {
  const both = { namespace: 'shop', name: 'both' };
  const keysFor = (object: KubeObject) => [both, { namespace: 'shop', name: object.metadata.labels?.app ?? 'none' }];
  const change = new StoredChange('Updated', 'shop/p', pod('p', [], { app: 'a' }), pod('p', [], { app: 'b' }));
  const maps = [
    keysFor,
    async (object: KubeObject) => keysFor(object),
    // As it was comes later than as it is: a worker may have taken the key by then.
    async (object: KubeObject) => {
      for (let turns = object === change.new ? 0 : 10; turns > 0; turns -= 1) await undefined;
      return keysFor(object);
    },
  ];
  for (const map of maps) {
    const names: string[] = [];
    const turns: number[] = [];
    let turn = 0;
    const handled = enqueueRequestsFromMap<KubeObject>(map)(change, ({ name }) => {
      names.push(name);
      turns.push(turn);
    });
    for (; turn < 50; turn += 1) await undefined;
    await handled;
    expect(new Set(turns).size).toBe(1);
    expect(names).toEqual(['both', 'b', 'a']);
  }
});

test('functions by kind of change; what is left out leads to nothing', () => {
  const handler = handlerFuncs({ update: (_, now, enqueue) => enqueue({ name: now.metadata.name }) });
  expect(keysOf(handler, undefined, pod('p'))).toEqual([]);
  expect(keysOf(handler, pod('p'), pod('p'))).toEqual(['p']);
  expect(keysOf(handler, pod('p'), undefined)).toEqual([]);
});

test('a map function that returns no keys is reported', async () => {
  const mapped = (answer: unknown) => enqueueRequestsFromMap(() => answer as never);
  const words = 'a map function gives keys, as in [{ namespace, name }], or none, []; got';
  expect(() => keysOf(mapped(undefined), undefined, pod('p'))).toThrow(`${words} undefined`);
  expect(() => keysOf(mapped({ name: 'a' }), undefined, pod('p'))).toThrow(`${words} { name }`);
  await expect(
    mapped(Promise.resolve(7))(new StoredChange('Added', 'shop/p', undefined, pod('p')), () => {}),
  ).rejects.toThrow(`${words} 7`);
});

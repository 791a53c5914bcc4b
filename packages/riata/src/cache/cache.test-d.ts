import { describe, expectTypeOf, test } from 'vitest';
import type { ConnectedClient } from '../client/create-client.js';
import { ConfigMap, Namespace, Pod } from '../kinds/index.js';
import { metadataOnly } from '../object/kind.js';
import { Cache } from './cache.js';
import { cached } from './cache-options.js';
import { DeltaFIFO } from './compat/delta-fifo.js';
import type { Change } from './informer/change.js';
import { type DeletedFinalStateUnknown, isDeletedFinalStateUnknown } from './informer/deleted-final-state-unknown.js';
import { SharedIndexInformer } from './informer/shared-index-informer.js';
import { SharedInformerFactory } from './informer/shared-informer-factory.js';
import type { Informer } from './informer.js';
import { type ListerWatcher, listWatch } from './reflector/list-watch.js';
import { createIndexer, type Indexer } from './store/indexer.js';
import { Lister } from './store/lister.js';

declare const client: ConnectedClient;
declare const signal: AbortSignal;

describe('informers', () => {
  test('are of the type of what they list', () => {
    expectTypeOf(listWatch(client, Pod)).toEqualTypeOf<ListerWatcher<Pod>>();
    const informer = new SharedIndexInformer(listWatch(client, Pod), {
      indexers: { byNode: (pod) => [pod.spec?.nodeName ?? ''] },
      newQueue: (knownObjects) => new DeltaFIFO({ knownObjects }),
      transform: (pod) => ({ ...pod, status: {} }),
    });
    expectTypeOf(informer).toEqualTypeOf<SharedIndexInformer<Pod>>();
    expectTypeOf(informer.getIndexer()).toEqualTypeOf<Indexer<Pod>>();
    expectTypeOf(informer.changes()).toEqualTypeOf<AsyncIterableIterator<Change<Pod>>>();
    expectTypeOf(new Lister(informer.getIndexer(), Pod).namespace('shop').get('a')).toEqualTypeOf<Pod>();
    // @ts-expect-error an index gives strings
    new SharedIndexInformer(listWatch(client, Pod), { indexers: { byAge: () => [1] } });
    // @ts-expect-error seconds are said as '5s'
    new SharedIndexInformer(listWatch(client, Pod), { silence: 5 });
  });

  test('of metadata alone have nothing else', () => {
    const source = listWatch(client, Pod, { metadataOnly: true });
    const informer = new SharedIndexInformer(source);
    informer.addEventHandler({
      onAdd: (pod) => {
        expectTypeOf(pod.metadata.name).toBeString();
        expectTypeOf(pod).not.toHaveProperty('spec');
      },
    });
    const factory = new SharedInformerFactory(client);
    expectTypeOf(factory.forKind(Pod)).toEqualTypeOf<SharedIndexInformer<Pod>>();
    const [part] = factory.forKind(Pod, { metadataOnly: true }).getStore().list();
    expectTypeOf(part as NonNullable<typeof part>).not.toHaveProperty('spec');
  });

  test('return read-only objects, and tombstones that can be recognised', () => {
    const informer = new SharedIndexInformer(listWatch(client, Pod));
    informer.addEventHandler({
      onUpdate: (old, pod) => {
        expectTypeOf(old).toEqualTypeOf<Pod>();
        // @ts-expect-error it belongs to all
        pod.metadata.name = 'b';
        // @ts-expect-error its parts, too
        pod.spec?.containers.push({ name: 'a' });
      },
      onDelete: (gone) => {
        expectTypeOf(gone).toEqualTypeOf<Pod | DeletedFinalStateUnknown<Pod>>();
        if (isDeletedFinalStateUnknown(gone)) expectTypeOf(gone.obj).toEqualTypeOf<Pod | undefined>();
        else expectTypeOf(gone).toEqualTypeOf<Pod>();
      },
      onChange: (change) => expectTypeOf(change).toEqualTypeOf<Change<Pod>>(),
    });
  });
});

test('a cache reads as a client does', async () => {
  const cache = new Cache(client, {
    kinds: [
      cached(Pod, { transform: (pod) => ({ ...pod, spec: { containers: [] } }) }),
      // @ts-expect-error there is no such option
      cached(ConfigMap, { memory: 'fast' }),
    ],
  });
  expectTypeOf(cache.get(Pod, { namespace: 'shop', name: 'a' })).resolves.toEqualTypeOf<Pod>();
  expectTypeOf(cache.find(Namespace, { name: 'a' })).resolves.toEqualTypeOf<Namespace | undefined>();
  expectTypeOf((await cache.list(Pod)).items).items.toEqualTypeOf<Pod>();
  expectTypeOf(await cache.get(metadataOnly(Pod), { namespace: 'shop', name: 'a' })).not.toHaveProperty('spec');
  // @ts-expect-error no namespace
  await cache.get(Pod, { name: 'a' });
  // @ts-expect-error a namespace has none
  await cache.get(Namespace, { namespace: 'shop', name: 'a' });
  expectTypeOf(cache.getInformer(Pod, { signal })).resolves.toEqualTypeOf<Informer<Pod>>();
  await cache.indexField(Pod, 'spec.nodeName', (pod) => [pod.spec?.nodeName ?? '']);
  expectTypeOf(cache.use(Pod).informer).toEqualTypeOf<Informer<Pod>>();
});

test('a store is of what it is said to hold', () => {
  const pods = createIndexer<Pod>({ indexers: { byNode: (pod) => [pod.spec?.nodeName ?? ''] } });
  expectTypeOf(pods.byIndex('byNode', 'a')).toEqualTypeOf<Pod[]>();
  expectTypeOf(pods.getByKey('a')).toEqualTypeOf<Pod | undefined>();
});

// biome-ignore-all lint/suspicious/noConsole: code in guides prints.
import {
  Cache,
  cached,
  createClient,
  Lister,
  listWatch,
  loadConfig,
  SharedIndexInformer,
  SharedInformerFactory,
} from 'riata';
import { createStore, DeltaFIFO, type Deltas, Reflector } from 'riata/cache';
import { ConfigMap, Pod } from 'riata/kinds';
import { expect, test, vi } from 'vitest';
import { runningPod } from './cluster.js';

const log = vi.spyOn(console, 'log').mockImplementation(() => {});

test('an informer', async () => {
  await using client = createClient(await loadConfig());
  const stop = new AbortController();
  const { signal } = stop;

  const informer = new SharedIndexInformer(listWatch(client, Pod), {
    kind: Pod,
    indexers: { byNode: (pod) => (pod.spec.nodeName === undefined ? [] : [pod.spec.nodeName]) },
  });
  informer.addEventHandler({
    onAdd: (pod, isInInitialList) => console.log('added', pod.metadata.name, isInInitialList),
    onUpdate: (old, pod) => console.log('updated', pod.metadata.name, old.spec === pod.spec),
    onDelete: () => console.log('deleted'),
  });
  const indexer = informer.getIndexer();
  const running = informer.run({ signal });
  await informer.synced({ signal });
  await client.create(runningPod('default', 'informed'));
  await vi.waitFor(() => expect(indexer.getByKey('default/informed')).toBeDefined(), 45_000);
  const onNode = indexer.byIndex('byNode', 'node-1'); // no request
  const pods = new Lister(indexer, Pod);
  const pod = pods.namespace('default').get('informed');
  expect(Object.isFrozen(pod.spec)).toBe(true);
  expect(onNode).toContain(pod);
  expect(log).toHaveBeenCalledWith('added', 'informed', false);
  for await (const change of informer.changes({ signal })) {
    console.log(change.type, change.key);
    if (change.key === 'default/informed') break;
  }
  expect(log).toHaveBeenCalledWith('Added', 'default/informed');
  stop.abort();
  await running;
  expect(informer.isStopped).toBe(true);
});

test('a factory', async () => {
  await using client = createClient(await loadConfig());
  const signal = AbortSignal.timeout(45_000);
  await using factory = new SharedInformerFactory(client, { namespace: 'default' });
  const configMaps = factory.forKind(ConfigMap);
  const podNames = factory.forKind(Pod, { metadataOnly: true }); // no spec, no status: little memory
  factory.start({ signal });
  await factory.waitForCacheSync({ signal });
  expect([configMaps.hasSynced(), podNames.hasSynced()]).toEqual([true, true]);
});

test('a cache', async () => {
  await using client = createClient(await loadConfig());
  const stop = new AbortController();
  const { signal } = stop;
  const mine = { labelSelector: 'app=guide' };
  const cache = new Cache(client, { kinds: [cached(ConfigMap, mine)] });
  await cache.indexField(ConfigMap, 'colour', (map) => [map.data?.colour ?? '']);
  const running = cache.run({ signal });
  await cache.waitForCacheSync({ signal });

  const labels = { app: 'guide' };
  await client.create(ConfigMap({ metadata: { namespace: 'default', name: 'car', labels }, data: { colour: 'red' } }));
  const red = await cache.list(ConfigMap, { fieldSelector: { colour: 'red' } }); // includes the new one: no sleep, no retry
  expect(red.items.map(({ metadata }) => metadata.name)).toEqual(['car']);
  stop.abort();
  await running;
});

test('a reflector and its queue', async () => {
  await using client = createClient(await loadConfig());
  await client.create(ConfigMap({ metadata: { namespace: 'default', name: 'reflected' } }));
  const stop = new AbortController();
  const { signal } = stop;
  const known = createStore<ConfigMap>();
  const queue = new DeltaFIFO<ConfigMap>({ knownObjects: known });
  const selected = listWatch(client, ConfigMap, { fieldSelector: 'metadata.name=reflected' });
  const reflector = new Reflector(selected, queue, { kind: ConfigMap });
  const reflecting = reflector.run({ signal });

  const process = (deltas: Deltas<ConfigMap>) => {
    for (const delta of deltas) {
      if (delta.type === 'Deleted')
        known.delete(delta.object); // a tombstone, if the watch missed the deletion
      else known.update(delta.object);
      console.log(delta.type);
    }
  };
  await queue.pop(process, { signal }); // one object with all its deltas
  expect(known.listKeys()).toContain('default/reflected');
  stop.abort();
  await reflecting;
});

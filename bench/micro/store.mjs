// Stores and queues of changes, with small objects: what is measured is the store.
//   node --expose-gc bench/micro/store.mjs [count] [--json]
import { loadSource } from './bundle.mjs';

const [count = 100_000] = process.argv.slice(2).map(Number).filter(Boolean);
const rounds = 5;
const { createIndexer, byNamespace, Lister, DeltaFIFO, OrderedFIFO } = await loadSource({
  'cache/index.js': ['createIndexer', 'byNamespace', 'Lister', 'DeltaFIFO', 'OrderedFIFO'],
});

const pod = (i, version) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: `ns-${i % 100}`, name: `pod-${i}`, uid: `uid-${i}`, resourceVersion: String(version) },
  spec: { nodeName: `node-${i % 1000}` },
});
const pods = Array.from({ length: count }, (_, i) => pod(i, i));
const newer = Array.from({ length: count }, (_, i) => pod(i, count + i));
const keys = pods.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
const indexers = { namespace: byNamespace, byNode: (pod) => [pod.spec?.nodeName ?? ''] };

/** µs of CPU each, round by round. */
const taken = {};
let blackhole = 0;
const swallow = (popped) => {
  blackhole += popped.length;
};
async function measure(name, times, run) {
  globalThis.gc?.();
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  taken[name] ??= [];
  taken[name].push((user + system) / times);
}

for (let round = 0; round < rounds; round++) {
  // The least that anything with these features can cost: one map, and two of sets.
  const [bare, ...sets] = [new Map(), new Map(), new Map()];
  await measure('bare maps: add', count, () => {
    for (const pod of pods) {
      const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
      bare.set(key, pod);
      for (const [at, value] of [pod.metadata.namespace, pod.spec.nodeName].entries()) {
        const set = sets[at].get(value);
        if (set === undefined) sets[at].set(value, new Set([key]));
        else set.add(key);
      }
    }
  });
  await measure('bare map: get by key', count, () => {
    for (const key of keys) blackhole += bare.get(key) === undefined ? 0 : 1;
  });
  const store = createIndexer({ indexers });
  await measure('add, 2 indexes', count, () => {
    for (const pod of pods) store.add(pod);
  });
  await measure('get', count, () => {
    for (const pod of pods) blackhole += store.get(pod) === undefined ? 0 : 1;
  });
  await measure('getByKey', count, () => {
    for (const key of keys) blackhole += store.getByKey(key) === undefined ? 0 : 1;
  });
  await measure('update, 2 indexes', count, () => {
    for (const pod of newer) store.update(pod);
  });
  await measure('list, per object', count * 10, () => {
    for (let i = 0; i < 10; i++) blackhole += new Lister(store, {}).list().length;
  });
  await measure('list a namespace, per object', count, () => {
    for (let i = 0; i < 100; i++) blackhole += new Lister(store, {}).namespace(`ns-${i}`).list().length;
  });
  await measure('replace, 2 indexes', count, () => store.replace(pods, '1'));
  await measure('delete, 2 indexes', count, () => {
    for (const pod of pods) store.delete(pod);
  });
  const deltas = new DeltaFIFO();
  await measure('DeltaFIFO: add and pop', count, async () => {
    for (const pod of pods) deltas.add(pod);
    for (let i = 0; i < count; i++) await deltas.pop(swallow);
  });
  const ordered = new OrderedFIFO();
  await measure('OrderedFIFO: add and popBatch', count, async () => {
    for (const pod of pods) ordered.add(pod);
    for (let left = count; left > 0; ) left -= (await ordered.popBatch(swallow)).length;
  });
}

globalThis.gc?.();
const heapBefore = process.memoryUsage().heapUsed;
const kept = createIndexer({ indexers: { ...indexers, byUid: (pod) => [pod.metadata.uid] } });
for (const pod of pods) kept.add(pod);
globalThis.gc?.();
const heap = (process.memoryUsage().heapUsed - heapBefore) / kept.listKeys().length;

if (process.argv.includes('--json')) {
  console.log(JSON.stringify({ us: taken, heap, blackhole }));
} else {
  console.log(`${count} objects; CPU, median of ${rounds}`);
  for (const [name, all] of Object.entries(taken)) {
    const us = all.sort((a, b) => a - b)[rounds >> 1];
    console.log(`${name.padEnd(32)} ${us.toFixed(3)} µs  ${(1 / us).toFixed(2)} M/s`);
  }
  console.log(
    `heap with 3 indexes, objects aside: ${heap.toFixed(0)} B per object (${blackhole > 0 ? 'read' : 'unread'})`,
  );
}

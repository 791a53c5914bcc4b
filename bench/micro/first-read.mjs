// How long the first list() of an informer's store blocks: objects are frozen when they are first handed out, unless the
// store was asked for before the informer ran. No handlers.
//   node --expose-gc bench/micro/first-read.mjs [count] [replicas]
import { loadSource } from './bundle.mjs';
import { workloadPod } from './workload-pods.mjs';

const count = Number(process.argv[2] ?? 50_000);
const replicas = Number(process.argv[3] ?? 5);
const rounds = 3;
const { SharedIndexInformer, OrderedFIFO, silentLogger } = await loadSource({
  'cache/index.js': ['SharedIndexInformer', 'OrderedFIFO'],
  'runtime/index.js': ['silentLogger'],
});

const texts = Array.from({ length: count }, (_, i) => {
  const { metadata, spec, status } = workloadPod(i, replicas, 0);
  delete metadata.managedFields;
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec, status });
});
const ms = () => process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000;
const best = new Map();
const note = (name, value) => best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, value));

/** CPU time of what is done in one go. */
function timed(name, act) {
  const before = ms();
  act();
  note(name, ms() - before);
}

const silence = ({ signal }) =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
for (let round = 0; round < rounds; round++) {
  for (const asked of ['after sync', 'before run']) {
    const queue = new OrderedFIFO();
    const stop = new AbortController();
    const informer = new SharedIndexInformer(
      { list: silence, watch: silence },
      { newQueue: () => queue, runtime: { log: silentLogger } },
    );
    if (asked === 'before run') informer.getStore();
    const ended = informer.run({ signal: stop.signal });
    const list = texts.map((text) => JSON.parse(text));
    globalThis.gc?.();
    const before = ms();
    queue.replace(list, '1');
    await informer.synced();
    note(`getStore() ${asked}: sync without decoding`, ms() - before);
    globalThis.gc?.();
    timed(`getStore() ${asked}: first list()`, () => informer.getStore().list());
    timed(`getStore() ${asked}: second list()`, () => informer.getStore().list());
    stop.abort();
    await ended;
  }
}
console.log(`${count} Pods, workloads of ${replicas}; CPU ms, best of ${rounds}`);
for (const [name, value] of best) console.log(`${name.padEnd(50)} ${value.toFixed(1)}`);

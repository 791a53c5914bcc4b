// What objects cost in a cache, shared with their neighbours or not: heap per Pod, CPU per Pod of the first list, CPU per event.
//   node bench/micro/cache-memory.mjs [--count=50000] [--events=50000] [--replicas=12.5,3,1] [--runs=3] [--modes=unshared,shared] [--shuffled]
// Bytes are made beforehand; decoding, sharing, storing and freezing are measured, no network. Each case is a process of
// its own, under NODE_ENV=production; ratios between cases of one run are what counts.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { workloadPod } from './workload-pods.mjs';

const options = Object.fromEntries(process.argv.slice(2).map((arg) => arg.replace(/^--/, '').split('=')));
const count = Number(options.count ?? 50_000);
const events = Number(options.events ?? count);
/** A list comes in the order of names, unless it is shuffled. */
const place = (i) => ('shuffled' in options ? (i * 7919) % count : i);
const modes = (options.modes ?? 'unshared,shared').split(',');

function* listChunks(replicas) {
  yield Buffer.from('{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[');
  for (let i = 0; i < count; i++) {
    yield Buffer.from(JSON.stringify(workloadPod(place(i), replicas, 0)) + (i + 1 < count ? ',' : ']}\n'));
  }
}

function* watchChunks(replicas) {
  for (let i = 0; i < events; i++) {
    const object = { kind: 'Pod', apiVersion: 'v1', ...workloadPod((i * 7) % count, replicas, 1) };
    yield Buffer.from(`{"type":"MODIFIED","object":${JSON.stringify(object)}}\n`);
  }
}

async function measure(mode, replicas) {
  const { loadSource } = await import('./bundle.mjs');
  const { ListDecoder, WatchDecoder, StoreDecoder, share, freeze } = await loadSource({
    'rest/stream/list-decoder.js': ['ListDecoder'],
    'rest/stream/watch-decoder.js': ['WatchDecoder'],
    'cache/decode/store-decoder.js': ['StoreDecoder'],
    'object/index.js': ['share', 'freeze'],
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const decoder = mode === 'unshared' ? undefined : new StoreDecoder((key) => store.get(key));
  const shared = decoder
    ? (next, previous) => decoder.share(next, previous)
    : (next, previous) => (previous ? share(previous, next) : next);
  const store = new Map();
  let seen = 0;
  const put = (object) => {
    const { namespace, name } = object.metadata;
    const key = `${namespace}/${name}`;
    const next = freeze(shared(object, store.get(key)));
    store.set(key, next);
    if (next.metadata.name.length > 0) seen++;
    if (next.spec.nodeName.length > 0) seen++;
  };
  const cpu = () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  };
  /** Chunks are made 500 at a time, and only what is done with them is counted. */
  const consume = async (decoder, chunks, take) => {
    let spent = 0;
    for (;;) {
      const batch = [];
      for (let next = chunks.next(); !next.done; next = chunks.next()) if (batch.push(next.value) === 500) break;
      if (batch.length === 0) return spent;
      await turn();
      const start = cpu();
      for (const chunk of batch) {
        decoder.push(chunk);
        for (let element = decoder.next(); element !== undefined; element = decoder.next()) take(element);
      }
      spent += cpu() - start;
    }
  };
  const settle = async () => {
    for (let i = 0; i < 3; i++) {
      await turn();
      globalThis.gc();
    }
    return process.memoryUsage().heapUsed;
  };
  const decodeOptions = { cutManagedFields: true, decoder };
  const before = await settle();
  const sync = await consume(new ListDecoder(decodeOptions), listChunks(replicas), put);
  const heap = (await settle()) - before;
  const event = await consume(new WatchDecoder(decodeOptions), watchChunks(replicas), (e) => put(e.object));
  const later = (await settle()) - before;
  if (store.size !== count || seen === 0) throw new Error(`expected ${count} Pods, got ${store.size}`);
  return { heap: heap / count, sync: sync / count, event: event / events, later: later / count };
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

if (options.mode) {
  console.log(JSON.stringify(await measure(options.mode, Number(options.replicas))));
} else {
  const node = process.execPath;
  const self = fileURLToPath(import.meta.url);
  console.log(`${count} Pods of ${JSON.stringify(workloadPod(1, 3, 0)).length} bytes, Node ${process.version}`);
  console.log('| replicas | memory | heap B/object | after updates | CPU µs/object, first list | CPU µs/event |');
  console.log('|--:|---|--:|--:|--:|--:|');
  for (const replicas of (options.replicas ?? '12.5,3,1').split(',')) {
    const found = new Map(modes.map((mode) => [mode, []]));
    for (let run = 0; run < Number(options.runs ?? 3); run++) {
      for (const mode of modes) {
        const args = [
          '--expose-gc',
          self,
          `--mode=${mode}`,
          `--replicas=${replicas}`,
          `--count=${count}`,
          `--events=${events}`,
        ];
        if ('shuffled' in options) args.push('--shuffled');
        const env = { ...process.env, NODE_ENV: 'production' };
        found.get(mode).push(JSON.parse(execFileSync(node, args, { encoding: 'utf8', env })));
      }
    }
    for (const [mode, results] of found) {
      const of = (field, digits) => median(results.map((result) => result[field])).toFixed(digits);
      console.log(
        `| ${replicas} | ${mode} | ${of('heap', 0)} | ${of('later', 0)} | ${of('sync', 1)} | ${of('event', 1)} |`,
      );
    }
  }
}

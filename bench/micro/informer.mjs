// What an informer costs beyond decoding: Pods of about 6 KB (managedFields cut), put into its queue as a Reflector does.
//   node --expose-gc bench/micro/informer.mjs [count] [events]
import { loadSource } from './bundle.mjs';
import { pod } from './pods.mjs';

const count = Number(process.argv[2] ?? 50_000);
const events = Number(process.argv[3] ?? 50_000);
const rounds = 3;
const { SharedIndexInformer, OrderedFIFO, silentLogger, share, freeze, createIndexer, byNamespace } = await loadSource({
  'cache/index.js': ['SharedIndexInformer', 'OrderedFIFO', 'createIndexer', 'byNamespace'],
  'runtime/index.js': ['silentLogger'],
  'object/index.js': ['share', 'freeze'],
});

/** Fresh from the parser, each with strings of its own. */
function texts(most, version) {
  return Array.from({ length: count }, (_, i) => {
    const { metadata, spec, status } = pod(i);
    delete metadata.managedFields;
    if (version > 0) {
      metadata.resourceVersion = String(48_300_000 + version * count + i);
      status.containerStatuses[0].restartCount = version + 10;
      status.conditions[2].lastTransitionTime = `2026-11-2${version}T10:00:00Z`;
    }
    return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec, status });
  }).slice(0, most);
}
const first = texts(count, 0);
const newer = texts(Math.min(events, count), 1);
const newest = texts(Math.min(events, count), 2);
const parsed = (list) => list.map((text) => JSON.parse(text));

const best = new Map();
const note = (name, value) => best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, value));
const turn = () => new Promise((resolve) => setImmediate(resolve));
let blackhole = 0;
const read = (obj) => {
  blackhole += obj.metadata.name.length + (obj.spec.nodeName?.length ?? 0);
};

const cpuUs = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** CPU time of all until it is done, and most of it between two turns of the event loop: other programs don't count. */
async function measured(run) {
  globalThis.gc?.();
  await turn();
  const before = cpuUs();
  let longest = 0;
  let last = before;
  let isRunning = true;
  const watch = () => {
    const now = cpuUs();
    longest = Math.max(longest, now - last);
    last = now;
    if (isRunning) setImmediate(watch);
  };
  setImmediate(watch);
  await run();
  await turn();
  isRunning = false;
  return { us: cpuUs() - before, longest: longest / 1000 };
}

async function informer(handlers) {
  const queue = new OrderedFIFO();
  const stop = new AbortController();
  const silence = ({ signal }) =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  const made = new SharedIndexInformer(
    { list: silence, watch: silence },
    { newQueue: () => queue, runtime: { log: silentLogger } },
  );
  for (const handler of handlers) made.addEventHandler(handler);
  const ended = made.run({ signal: stop.signal });
  return {
    queue,
    made,
    async stop() {
      stop.abort();
      await ended;
    },
  };
}

/** Decodes the events, some in each turn as a watch brings them, and hands each on. */
async function decode(texts, perTurn, take) {
  for (let at = 0; at < texts.length; ) {
    for (const end = Math.min(at + perTurn, texts.length); at < end; at++) take(JSON.parse(texts[at]));
    await turn();
  }
}

const reading = { onAdd: read, onUpdate: (_, obj) => read(obj) };
const cases = [
  ['no handler', []],
  ['1 handler', [reading]],
  ['5 handlers', [reading, reading, reading, reading, reading]],
  ['1 handler of metadata', [{ onChange: ({ metadata }) => (blackhole += metadata.name.length) }]],
  ['1 async handler', [{ onAdd: read, onUpdate: async (_, obj) => read(obj) }]],
];
const few = newest.slice(0, 5000);

for (let round = 0; round < rounds; round++) {
  const decoding = (await measured(() => decode(newer, 20, read))).us / newer.length;
  const decodingFew = (await measured(() => decode(few, 1, read))).us / few.length;
  note('decoding alone, 20 in a turn: µs per event', decoding);
  note('decoding alone, 1 in a turn: µs per event', decodingFew);
  // What the same costs by hand: the floor.
  {
    const store = createIndexer({ indexers: { namespace: byNamespace } });
    for (const obj of parsed(first)) store.add(freeze(obj));
    const take = (obj) => {
      const next = freeze(share(store.get(obj), obj));
      store.update(next);
      read(next);
    };
    const { us } = await measured(() => decode(newer, 20, take));
    note('by hand (share, freeze, store, read): µs more per event', us / newer.length - decoding);
  }
  for (const [name, handlers] of cases) {
    const { queue, made, stop } = await informer(handlers);
    const list = parsed(first);
    const sync = await measured(async () => {
      queue.replace(list, '1');
      await made.synced();
    });
    note(`${name}: sync, µs per object`, sync.us / count);
    note(`${name}: sync, longest block in ms of CPU`, sync.longest);
    const updates = await measured(async () => {
      await decode(newer, 20, (obj) => queue.update(obj));
      while (queue.list().length > 0) await turn();
    });
    note(`${name}: 20 MODIFIED in a turn, µs more per event`, updates.us / newer.length - decoding);
    const alone = await measured(() => decode(few, 1, (obj) => queue.update(obj)));
    note(`${name}: 1 MODIFIED in a turn, µs more per event`, alone.us / few.length - decodingFew);
    const again = parsed(newer);
    const relist = await measured(async () => {
      queue.replace(again, '2');
      while (queue.list().length > 0) await turn();
      await turn();
    });
    note(`${name}: relist, longest block in ms of CPU`, relist.longest);
    if (name === '1 handler') {
      const late = await measured(() => made.addEventHandler({ onAdd: read }).synced());
      note('late handler, longest block in ms of CPU', late.longest);
    }
    await stop();
  }
}

console.log(`${count} objects, ${newer.length} events; best of ${rounds}${blackhole > 0 ? '' : ' (unread)'}`);
for (const [name, value] of best) console.log(`${name.padEnd(58)} ${value.toFixed(2)}`);

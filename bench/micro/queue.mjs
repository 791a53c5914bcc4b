// What the work queue costs: add, get and done of a key, and a million keys that wait for their time.
//   node --expose-gc bench/micro/queue.mjs [--keys=10000] [--only=part of a case's name] [--delayed=1000000] [--json]
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { loadSource } from './bundle.mjs';

const { values: options } = parseArgs({
  options: {
    keys: { type: 'string', default: '10000' },
    only: { type: 'string', default: '' },
    delayed: { type: 'string', default: '1000000' },
    json: { type: 'boolean', default: false },
  },
});
const { only } = options;
const keys = Number(options.keys);
const rounds = 9;
const { WorkQueue, memoryMetrics } = await loadSource({
  'queue/index.js': ['WorkQueue'],
  'runtime/index.js': ['memoryMetrics'],
});

const ids = Array.from({ length: keys }, (_, i) => `namespace-${i % 50}/some-object-${i}`);
const objects = ids.map((id) => {
  const [namespace, name] = id.split('/');
  return Object.freeze({ namespace, name, id });
});

/** Adds all, then takes and ends them one by one. */
const filled =
  (queue, all = ids, add = (key) => queue.add(key)) =>
  async () => {
    for (const key of all) add(key);
    for (let left = all.length; left > 0; left--) queue.done((await queue.get()).key);
  };

/** Each key is added once the one before it is done. */
const oneByOne = (queue) => async () => {
  for (const key of ids) {
    queue.add(key);
    queue.done((await queue.get()).key);
  }
};

/** Four workers that wait when a key is added. */
const awaited = (queue) => async () => {
  let left = ids.length;
  let at = 0;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      queue.done((await queue.get()).key);
    }
  };
  const workers = Array.from({ length: 4 }, worker);
  while (at < ids.length) {
    for (let n = 0; n < 4 && at < ids.length; n++) queue.add(ids[at++]);
    await undefined;
    await undefined;
  }
  await Promise.all(workers);
};

/** The least that two sets, a line and a promise can cost: what a queue without features would be. */
function bareQueue() {
  const dirty = new Set();
  const processing = new Set();
  let line = [];
  let at = 0;
  return {
    add(key) {
      if (dirty.has(key)) return;
      dirty.add(key);
      if (!processing.has(key)) line.push(key);
    },
    get() {
      const key = line[at++];
      if (at === line.length) {
        line = [];
        at = 0;
      }
      dirty.delete(key);
      processing.add(key);
      return Promise.resolve({ key });
    },
    done(key) {
      processing.delete(key);
      if (dirty.has(key)) line.push(key);
    },
  };
}

const fair = { id: (key) => key.id, fairness: (key) => key.namespace };
// Cheap instruments: what is measured is the queue's part of it.
const series = { inc() {}, set() {}, observe() {} };
const instrument = () => ({ with: () => series });
const metrics = { ...memoryMetrics(), counter: instrument, gauge: instrument, histogram: instrument };
const tried = new WorkQueue();
const full = new WorkQueue();
for (const key of ids) full.add(key);
const noted = new WorkQueue({ merge: (a, b) => (a === b ? a : [a, b]) });
const ranked = new WorkQueue({ priority: true });
const everything = new WorkQueue({ name: 'bench', metrics, priority: true, ...fair });
let turn = 0;
const byTurns = (queue) => (key) => queue.add(key, { priority: turn++ % 2 === 0 ? 0 : -100 });

const cases = {
  'bare sets: add, get, done': filled(bareQueue()),
  'add, get, done': filled(new WorkQueue()),
  'add, get, done; keys that are objects': filled(new WorkQueue({ id: (key) => key.id }), objects),
  'add, get, done; one after the other': oneByOne(new WorkQueue()),
  'add, get, done; 4 workers wait for each key': awaited(new WorkQueue()),
  'add, tryGet, done': () => {
    for (const key of ids) tried.add(key);
    for (let left = ids.length; left > 0; left--) tried.done(tried.tryGet().key);
  },
  'add of a key that waits already': () => {
    for (const key of ids) full.add(key);
  },
  'add, get, done; with notes': filled(noted, ids, (key) => noted.add(key, { note: 'changed' })),
  'add, get, done; priority': filled(ranked, ids, byTurns(ranked)),
  'add, get, done; priority, one after the other': oneByOne(new WorkQueue({ priority: true })),
  'add, get, done; fairness': filled(new WorkQueue(fair), objects),
  'add, get, done; with metrics': filled(new WorkQueue({ name: 'bench', metrics })),
  'add, get, done; priority, fairness and metrics': filled(everything, objects, byTurns(everything)),
};

/** Millions of keys per second of CPU, round by round; all cases take turns. */
const rates = {};
for (let round = 0; round < rounds; round++) {
  for (const [name, run] of Object.entries(cases)) {
    if (!name.includes(only)) continue;
    globalThis.gc?.();
    const start = process.cpuUsage();
    let count = 0;
    const from = performance.now();
    while (performance.now() - from < 150) {
      await run();
      count += ids.length;
    }
    const { user, system } = process.cpuUsage(start);
    rates[name] ??= [];
    rates[name].push(count / (user + system));
  }
}
if (!options.json) {
  for (const [name, all] of Object.entries(rates)) {
    const median = all
      .sort((a, b) => a - b)
      [rounds >> 1].toFixed(2)
      .padStart(6);
    console.log(`${name.padEnd(58)} ${median} M/s per core, best ${all.at(-1).toFixed(2)}`);
  }
  if (only !== '') process.exit();
}

/** Of this thread where Node can tell (24), else of all, the collector's too; wall time counts whatever else runs. */
const threadCpu = process.threadCpuUsage?.bind(process) ?? process.cpuUsage.bind(process);

/** A million delays, taken by one worker; for how long the event loop was held. */
const delays = {};
async function delay(name, delayOf) {
  const many = Number(options.delayed);
  const all = Array.from({ length: many }, (_, i) => `namespace-${i % 50}/some-object-${i}`);
  const queue = new WorkQueue();
  globalThis.gc?.();
  let turns = [];
  let lastAt = performance.now();
  let lastCpu = threadCpu();
  const turn = () =>
    new Promise((resolve) => {
      setImmediate(() => {
        const { user, system } = threadCpu(lastCpu);
        turns.push({ wall: performance.now() - lastAt, cpu: (user + system) / 1000 });
        lastAt = performance.now();
        lastCpu = threadCpu();
        resolve();
      });
    });
  const report = (what, begin) => {
    const { user, system } = process.cpuUsage(begin);
    const longest = (of) => turns.slice(5).reduce((most, turn) => Math.max(most, turn[of]), 0);
    const figures = { us: (user + system) / many, turnCpuMs: longest('cpu'), turnMs: longest('wall') };
    delays[`${name}: ${what}`] = figures;
    if (!options.json) {
      console.log(
        `${`${name}: ${what}`.padEnd(58)} ${figures.us.toFixed(2).padStart(6)} µs each; longest turn ` +
          `${figures.turnCpuMs.toFixed(1)} ms of CPU, ${figures.turnMs.toFixed(1)} ms of time`,
      );
    }
    turns = [];
  };
  let begin = process.cpuUsage();
  for (let at = 0; at < many; ) {
    for (const end = at + 1000; at < end; at++) queue.addAfter(all[at], delayOf(at));
    await turn();
  }
  report('addAfter', begin);
  begin = process.cpuUsage();
  let taken = 0;
  const worker = (async () => {
    for (; taken < many; taken++) queue.done((await queue.get()).key);
  })();
  while (taken < many) {
    // Looking on costs CPU time as well: only now and then while nothing is due.
    if (queue.len() === 0 && taken === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await turn();
  }
  await worker;
  report('release, get, done', begin);
}
await delay('due over two seconds', (i) => 3000 + ((i * 7919) % 2000));
await delay('due at one moment', () => 4000);
if (options.json) console.log(JSON.stringify({ rates, delays }));

// What the work queue costs: add, get and done of a key, and a million keys that wait for their time.
//   node --expose-gc bench/micro/queue.mjs [keys]
import { performance } from 'node:perf_hooks';
import { loadSource } from './bundle.mjs';

const keys = Number(process.argv[2] ?? 10_000);
const rounds = 7;
const { WorkQueue, memoryMetrics } = await loadSource({
  'queue/index.js': ['WorkQueue'],
  'runtime/index.js': ['memoryMetrics'],
});

const ids = Array.from({ length: keys }, (_, i) => `namespace-${i % 50}/some-object-${i}`);
const objects = ids.map((id) => {
  const [namespace, name] = id.split('/');
  return Object.freeze({ namespace, name, id });
});

/** Millions of keys per second: the median over the rounds, of which the first two warm up. */
async function measure(name, run) {
  const rates = [];
  for (let round = 0; round < rounds; round++) {
    globalThis.gc?.();
    const start = process.cpuUsage();
    let count = 0;
    const from = performance.now();
    while (performance.now() - from < 400) count += await run();
    const { user, system } = process.cpuUsage(start);
    rates.push(count / (user + system));
  }
  const sorted = rates.slice(2).sort((a, b) => a - b);
  console.log(`${name.padEnd(58)} ${sorted[Math.floor(sorted.length / 2)].toFixed(2).padStart(6)} M/s per core`);
}

/** Adds all, then takes and ends them one by one. */
const filled =
  (queue, all, add = (key) => queue.add(key)) =>
  async () => {
    for (const key of all) add(key);
    for (let left = all.length; left > 0; left--) queue.done((await queue.get()).key);
    return all.length;
  };

await measure('add, get, done; all at once', filled(new WorkQueue(), ids));
await measure('add, get, done; keys that are objects', filled(new WorkQueue({ id: (key) => key.id }), objects));
{
  const queue = new WorkQueue();
  await measure('add, get, done; one after the other', async () => {
    for (const key of ids) {
      queue.add(key);
      queue.done((await queue.get()).key);
    }
    return ids.length;
  });
}
{
  const queue = new WorkQueue();
  await measure('add, get, done; 4 workers wait for each key', async () => {
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
    return ids.length;
  });
}
{
  const queue = new WorkQueue();
  await measure('add, tryGet, done', () => {
    for (const key of ids) queue.add(key);
    for (let left = ids.length; left > 0; left--) queue.done(queue.tryGet().key);
    return ids.length;
  });
}
{
  const queue = new WorkQueue();
  for (const key of ids) queue.add(key);
  await measure('add of a key that waits already', () => {
    for (const key of ids) queue.add(key);
    return ids.length;
  });
}
{
  const queue = new WorkQueue({ priority: true });
  let at = 0;
  await measure(
    'add, get, done; priority',
    filled(queue, ids, (key) => queue.add(key, { priority: at++ % 2 === 0 ? 0 : -100 })),
  );
}
{
  const queue = new WorkQueue({ fairness: (key) => key.slice(0, key.indexOf('/')) });
  await measure('add, get, done; fairness', filled(queue, ids));
}
{
  const merge = (a, b) => (a === b ? a : [a, b]);
  const queue = new WorkQueue({ merge });
  await measure(
    'add, get, done; with notes',
    filled(queue, ids, (key) => queue.add(key, { note: 'changed' })),
  );
}
{
  // Cheap instruments: what is measured is the queue's part of it.
  const series = { inc() {}, set() {}, observe() {} };
  const instrument = () => ({ with: () => series });
  const metrics = { ...memoryMetrics(), counter: instrument, gauge: instrument, histogram: instrument };
  await measure('add, get, done; with metrics', filled(new WorkQueue({ name: 'bench', metrics }), ids));
}

/**
 * A million delays, taken by one worker; for how long the event loop was held. The CPU time of a turn counts all
 * threads, the collector's too; the wall time counts whatever else the machine does.
 */
async function delays(name, delayOf) {
  const many = 1_000_000;
  const all = Array.from({ length: many }, (_, i) => `namespace-${i % 50}/some-object-${i}`);
  const queue = new WorkQueue();
  globalThis.gc?.();
  let turns = [];
  let lastAt = performance.now();
  let lastCpu = process.cpuUsage();
  const turn = () =>
    new Promise((resolve) => {
      setImmediate(() => {
        const { user, system } = process.cpuUsage(lastCpu);
        turns.push({ wall: performance.now() - lastAt, cpu: (user + system) / 1000 });
        lastAt = performance.now();
        lastCpu = process.cpuUsage();
        resolve();
      });
    });
  const report = (what, begin) => {
    const { user, system } = process.cpuUsage(begin);
    const longest = (of) => Math.max(...turns.slice(5).map((turn) => turn[of])).toFixed(1);
    const ordered = turns.map((turn) => turn.cpu).sort((a, b) => b - a);
    console.log(
      `${`${name}, ${what}`.padEnd(58)} ${((user + system) / many).toFixed(2).padStart(6)} µs each; longest turn ` +
        `${longest('cpu')} ms of CPU (then ${ordered.slice(1, 4).map((ms) => ms.toFixed(1))}), ${longest('wall')} ms of time`,
    );
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
await delays('1 M delays, due over two seconds', (i) => 3000 + ((i * 7919) % 2000));
await delays('1 M delays, due at one moment', () => 4000);

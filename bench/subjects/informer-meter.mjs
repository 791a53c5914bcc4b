import { cpuMs, LoopProbe, peakMb, rssMb } from './probe.mjs';

const turn = () => new Promise((resolve) => setTimeout(resolve, 20));

async function settledHeap() {
  for (let i = 0; i < 4; i++) {
    await turn();
    globalThis.gc();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const say = (figures) =>
  new Promise((resolve) => process.stdout.write(`${JSON.stringify(figures)}\n`, () => resolve()));

/** What an informer costs until it has synced, and then until so many events have come. Tells it line by line. */
export class InformerMeter {
  #desired;
  #events = 0;
  #read = 0;
  #heap = 0;
  #cpu;
  #probe;
  #all = Promise.withResolvers();

  constructor(events) {
    this.#desired = events;
  }

  /** What a handler reads; `node` is left out where it reads metadata alone. */
  take(name, node = '') {
    this.#read += name.length + node.length;
  }

  event() {
    this.#events += 1;
    if (this.#events === this.#desired) this.#all.resolve();
  }

  async begin() {
    this.#heap = await settledHeap();
    this.#probe = new LoopProbe().start();
    this.#cpu = process.cpuUsage();
  }

  async synced(count) {
    const cpu = cpuMs(this.#cpu);
    const atSyncMb = rssMb();
    await turn(); // one more, so that the last block counts
    const blocks = this.#probe.stop();
    const objects = count();
    const heapBytes = (await settledHeap()) - this.#heap;
    await say({ objects, cpuMs: cpu, heapBytes, atSyncMb, rssMb: rssMb(), peakMb: peakMb(), ...blocks });
    this.#probe = new LoopProbe().start();
    this.#cpu = process.cpuUsage();
    await this.#all.promise;
    const spent = cpuMs(this.#cpu);
    await turn();
    await say({ events: this.#events, cpuMs: spent, peakMb: peakMb(), read: this.#read, ...this.#probe.stop() });
    process.exit(0);
  }
}

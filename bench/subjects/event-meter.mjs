import { cpuMs, LoopProbe, peakMb, report } from './probe.mjs';

/** Counts the events of a watch and what they cost, from the first one to the last. */
export class EventMeter {
  #events = 0;
  #begin = 0;
  #end = 0;
  #cpu;
  #probe;

  count({ type, object }) {
    if (this.#events++ === 0) {
      this.#begin = performance.now();
      this.#cpu = process.cpuUsage();
      this.#probe = new LoopProbe().start();
    }
    if (type !== 'MODIFIED' || object.metadata.name === '') throw new Error(`unexpected event ${type}`);
    this.#end = performance.now();
  }

  report() {
    const cpu = cpuMs(this.#cpu);
    const events = this.#events;
    const perSecond = (events - 1) / ((this.#end - this.#begin) / 1000);
    const cpuUs = (cpu * 1000) / (events - 1);
    report({ count: events, perSecond, cpuUs, peakMb: peakMb(), ...this.#probe.stop() });
  }
}

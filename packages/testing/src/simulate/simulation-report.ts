import type { RunResult } from './run/run-result.js';
import { type FaultKind, faultKinds } from './run/simulated-fault.js';

/** What a simulation has tried. */
export class SimulationReport {
  /** Runs that were made, those without faults included. */
  runs = 0;
  /** How often each kind of fault happened. */
  readonly faults = new Map<FaultKind, number>();
  /** Every write that controllers made, as `patch ConfigMap default/blog`, with the kinds of faults that hit it. */
  readonly writes = new Map<string, Set<FaultKind>>();
  /** The hash of the history of the run without faults: the same on every machine. */
  hash = '';

  /** @internal */
  add(run: RunResult): void {
    this.runs += 1;
    if (run.plan.faults.length === 0 && this.hash === '') this.hash = run.history.hash();
    for (const { verb, object } of run.writes) {
      const line = `${verb} ${object}`;
      if (!this.writes.has(line)) this.writes.set(line, new Set());
    }
    for (const { kind, at } of run.happened) {
      this.faults.set(kind, (this.faults.get(kind) ?? 0) + 1);
      const write = run.writes[at - 1];
      if (write !== undefined) this.writes.get(`${write.verb} ${write.object}`)?.add(kind);
    }
  }

  /** In words. */
  toString(): string {
    const faults = faultKinds.filter((kind) => this.faults.has(kind)).map((kind) => `${kind} ${this.faults.get(kind)}`);
    return `${this.runs} runs; faults: ${faults.join(', ') || 'none'}`;
  }
}

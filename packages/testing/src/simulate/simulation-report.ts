import type { Coverage } from './report/coverage.js';
import { coverageHtml } from './report/coverage-html.js';
import { coverageText } from './report/coverage-text.js';
import type { RunResult } from './run/run-result.js';
import { type FaultKind, faultPlaces } from './run/simulated-fault.js';

/** What a simulation has tried. */
export class SimulationReport implements Coverage {
  /** Runs that were made, those without faults included. */
  runs = 0;
  /** How often each kind of fault happened. */
  readonly faults = new Map<FaultKind, number>();
  /** Every write that controllers made, as `patch ConfigMap default/blog`, with the kinds of faults that hit it. */
  readonly writes = new Map<string, Set<FaultKind>>();
  /** Every event that processes received, as `MODIFIED Site default/blog`, with the kinds of faults that hit it. */
  readonly events = new Map<string, Set<FaultKind>>();
  /** Every condition that objects had, as `Site Ready`, with the values that it had. */
  readonly conditions = new Map<string, Set<string>>();
  /** The hash of the history of the run without faults: the same on every machine. */
  hash = '';

  /** What was reached, as text. */
  toString(): string {
    return coverageText(this);
  }

  /** What was reached, as one page without references to others. */
  html(title = 'Simulation'): string {
    return coverageHtml(this, title);
  }

  /** @internal */
  add(run: RunResult): void {
    this.runs += 1;
    if (run.plan.faults.length === 0 && this.hash === '') this.hash = run.history.hash();
    for (const { verb, object } of run.writes) reach(this.writes, `${verb} ${object}`);
    for (const { type, object } of run.events) reach(this.events, `${type} ${object}`);
    for (const condition of run.conditions) {
      const [name = '', value = ''] = condition.split('=');
      reach(this.conditions, name).add(value);
    }
    for (const { kind, at } of run.happened) {
      this.faults.set(kind, (this.faults.get(kind) ?? 0) + 1);
      const [write, event] = [run.writes[at - 1], run.events[at - 1]];
      if (faultPlaces[kind] === 'write' && write) reach(this.writes, `${write.verb} ${write.object}`).add(kind);
      if (faultPlaces[kind] === 'event' && event) reach(this.events, `${event.type} ${event.object}`).add(kind);
    }
  }
}

function reach<T>(all: Map<string, Set<T>>, name: string): Set<T> {
  const known = all.get(name) ?? new Set<T>();
  all.set(name, known);
  return known;
}

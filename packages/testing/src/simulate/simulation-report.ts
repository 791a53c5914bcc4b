import type { RunSummary } from './explore/run-summary.js';
import type { Coverage } from './report/coverage.js';
import { coverageHtml } from './report/coverage-html.js';
import { coverageText } from './report/coverage-text.js';
import { describeChange } from './run/field-change.js';
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
  /** Every value of a condition, as `Site Ready=False`, with the reasons that were given for it. */
  readonly reasons = new Map<string, Set<string>>();
  /** Every change that was made and undone, as `Site spec.size = 0`, with the kinds of faults that happened meanwhile. */
  readonly changes = new Map<string, Set<FaultKind>>();
  /** Every change that the server refused, with its reason. */
  readonly refused = new Map<string, string>();
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
  add(run: RunSummary): void {
    this.runs += 1;
    if (this.hash === '') this.hash = run.hash ?? '';
    this.#addChange(run);
    for (const { verb, object } of run.writes) reach(this.writes, `${verb} ${object}`);
    for (const { type, object } of run.events) reach(this.events, `${type} ${object}`);
    for (const condition of run.conditions) {
      const [name = '', value = '', reason = ''] = condition.split('=');
      reach(this.conditions, name).add(value);
      const reasons = reach(this.reasons, `${name}=${value}`);
      if (reason !== '') reasons.add(reason);
    }
    for (const { kind, at } of run.happened) {
      this.faults.set(kind, (this.faults.get(kind) ?? 0) + 1);
      const [write, event] = [run.writes[at - 1], run.events[at - 1]];
      if (faultPlaces[kind] === 'write' && write) reach(this.writes, `${write.verb} ${write.object}`).add(kind);
      if (faultPlaces[kind] === 'event' && event) reach(this.events, `${event.type} ${event.object}`).add(kind);
    }
  }

  #addChange({ plan, changed, refused, happened }: RunSummary): void {
    for (const field of plan.change?.fields ?? []) {
      const name = `${changed?.kind ?? ''} ${describeChange(field)}`;
      if (refused !== undefined) this.refused.set(name, refused);
      else reach(this.changes, name);
      for (const { kind } of refused === undefined ? happened : []) reach(this.changes, name).add(kind);
    }
  }
}

function reach<T>(all: Map<string, Set<T>>, name: string): Set<T> {
  const known = all.get(name) ?? new Set<T>();
  all.set(name, known);
  return known;
}

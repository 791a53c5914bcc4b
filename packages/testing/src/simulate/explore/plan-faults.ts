import type { Random } from 'riata/runtime';
import { appliesTo } from '../run/run-result.js';
import {
  type FaultKind,
  type FaultPlace,
  faultKinds,
  faultPlaces,
  type SimulatedFault,
} from '../run/simulated-fault.js';
import type { RunSummary } from './run-summary.js';

/** Which faults a simulation can have. */
export interface FaultSpace {
  readonly kinds: readonly FaultKind[];
}

/** The kinds of faults that make sense for a simulation. */
export function applicableKinds(given: {
  readonly faults?: readonly FaultKind[];
  readonly hasLeader: boolean;
  readonly isSharded: boolean;
}): readonly FaultKind[] {
  const { faults = faultKinds, hasLeader, isSharded } = given;
  return faults.filter((kind) => {
    if (kind === 'leader-change') return hasLeader;
    return kind !== 'shard-move' || isSharded;
  });
}

/** Every fault at every point that a run has reached, after its change and the faults that it already had. */
export function faultsAfter(run: RunSummary, { kinds }: FaultSpace): readonly SimulatedFault[] {
  const first = new Map(Object.entries(run.changed?.at ?? {}) as [FaultPlace, number][]);
  for (const { kind, at } of run.plan.faults) {
    const place = faultPlaces[kind];
    first.set(place, Math.max(first.get(place) ?? 0, at));
  }
  const counts = {
    write: run.writes.length,
    event: run.events.length,
    step: run.steps,
    webhook: run.webhookCalls,
  };
  return kinds.flatMap((kind) => {
    const place = faultPlaces[kind];
    const faults: SimulatedFault[] = [];
    for (let at = (first.get(place) ?? 0) + 1; at <= counts[place]; at += 1) {
      const write = run.writes[at - 1];
      if (place === 'write' && (write === undefined || !appliesTo(kind, write))) continue;
      faults.push({ kind, at });
    }
    return faults;
  });
}

/** Two to five faults at points that the run without faults has, or nearly has. */
export function randomFaultsOf(singles: readonly SimulatedFault[], random: Random): readonly SimulatedFault[] {
  const count = random.int(2, 5);
  const drawn = Array.from({ length: count }, () => {
    const { kind, at } = random.pick(singles);
    return { kind, at: at + random.int(0, 2) };
  });
  return drawn.filter(
    (fault, at) => drawn.findIndex((other) => other.kind === fault.kind && other.at === fault.at) === at,
  );
}

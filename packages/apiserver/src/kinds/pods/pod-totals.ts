import { type JsonObject, parseQuantity, type Quantity } from 'riata/object';
import { recordOf, recordsOf } from '../../resource/metadata.js';
import { isHugePages } from './checks/resource-checks.js';

type Amounts = Map<string, Quantity>;

/**
 * The total requests of a Pod's containers (`AggregateContainerRequests`): those that run at the same time, or, if that
 * is more, an init container beside the sidecars that have started by then.
 */
export function containerTotals(spec: JsonObject, list: 'requests' | 'limits'): ReadonlyMap<string, Quantity> {
  const of = (container: JsonObject): Amounts =>
    new Map(
      Object.entries(recordOf(recordOf(container.resources)[list])).map(([k, v]) => [k, parseQuantity(String(v))]),
    );
  const running: Amounts = new Map();
  const sidecars: Amounts = new Map();
  const most: Amounts = new Map();
  for (const container of recordsOf(spec.containers)) add(running, of(container));
  for (const container of recordsOf(spec.initContainers)) {
    const own = of(container);
    if (container.restartPolicy === 'Always') {
      add(running, own);
      add(sidecars, own);
    }
    const now = new Map(container.restartPolicy === 'Always' ? sidecars : own);
    if (container.restartPolicy !== 'Always') add(now, sidecars);
    raise(most, now);
  }
  raise(running, most);
  return running;
}

/** The resources of a Pod as a whole with what follows from those of its containers (`defaultPodRequests`). */
export function withPodTotals(given: JsonObject, spec: JsonObject): JsonObject {
  const [limits, requests] = [withHugePages(given, spec), recordOf(given.requests)];
  if (Object.keys(limits).length === 0) return given;
  const made: Record<string, JsonObject[string]> = { ...requests };
  for (const [name, amount] of containerTotals(spec, 'requests')) {
    if (name === 'cpu' || name === 'memory') made[name] ??= amount.toString();
  }
  for (const [name, limit] of Object.entries(limits)) {
    if (name === 'cpu' || name === 'memory' || isHugePages(name)) made[name] ??= limit;
  }
  const isSame = limits === given.limits && Object.keys(made).length === Object.keys(requests).length;
  return isSame ? given : { ...given, limits, requests: made };
}

function withHugePages(given: JsonObject, spec: JsonObject): JsonObject {
  const [limits, requests] = [recordOf(given.limits), recordOf(given.requests)];
  if (Object.keys(limits).length === 0 && Object.keys(requests).length === 0) return limits;
  const more = [...containerTotals(spec, 'limits')].filter(
    ([name]) => isHugePages(name) && requests[name] === undefined && limits[name] === undefined,
  );
  if (more.length === 0) return limits;
  return { ...limits, ...Object.fromEntries(more.map(([name, amount]) => [name, amount.toString()])) };
}

function add(to: Amounts, more: ReadonlyMap<string, Quantity>): void {
  for (const [name, amount] of more) to.set(name, to.get(name)?.add(amount) ?? amount);
}

function raise(to: Amounts, least: ReadonlyMap<string, Quantity>): void {
  for (const [name, amount] of least) if ((to.get(name)?.compare(amount) ?? -1) < 0) to.set(name, amount);
}

import type { Pod } from 'riata/kinds';
import { parseQuantity, Quantity } from 'riata/object';

/** Amounts of resources by name. */
export type Amounts = ReadonlyMap<string, Quantity>;

/**
 * The requests or limits of a Pod as a whole (`PodRequests`, `PodLimits`): its containers and sidecars together, or, if
 * that is more, an init container beside the sidecars that run by then; `spec.resources` overrides that; and the
 * overhead.
 */
export function podResources({ spec }: Pod, list: 'requests' | 'limits'): Amounts {
  const total = new Map<string, Quantity>();
  for (const { resources } of spec.containers) add(total, amountsOf(resources?.[list]));
  const sidecars = new Map<string, Quantity>();
  const peak = new Map<string, Quantity>();
  for (const { resources, restartPolicy } of spec.initContainers ?? []) {
    const own = amountsOf(resources?.[list]);
    const meanwhile = new Map(sidecars);
    add(meanwhile, own);
    raise(peak, meanwhile);
    if (restartPolicy !== 'Always') continue;
    add(sidecars, own);
    add(total, own);
  }
  raise(total, peak);
  for (const [name, amount] of amountsOf(spec.resources?.[list])) total.set(name, amount);
  for (const [name, amount] of amountsOf(spec.overhead)) {
    // No limit stays none.
    if (list === 'requests' || total.has(name)) add(total, new Map([[name, amount]]));
  }
  return total;
}

/** Reads amounts as objects carry them. */
export function amountsOf(given: Readonly<Record<string, string | number>> | undefined): Amounts {
  return new Map(Object.entries(given ?? {}).map(([name, amount]) => [name, parseQuantity(amount)]));
}

/** Adds amounts, name by name. */
export function add(to: Map<string, Quantity>, more: Amounts): void {
  for (const [name, amount] of more) to.set(name, (to.get(name) ?? Quantity.of(0)).add(amount));
}

function raise(to: Map<string, Quantity>, least: Amounts): void {
  for (const [name, amount] of least) if ((to.get(name)?.compare(amount) ?? -1) < 0) to.set(name, amount);
}

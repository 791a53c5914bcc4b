import { type Json, parseQuantity, type Quantity } from 'riata/object';
import { recordOf } from '../../../resource/metadata.js';

/** Amounts of resources by name (`v1.ResourceList`). */
export type Amounts = ReadonlyMap<string, Quantity>;

/** Parses the amounts of an object. */
export function amountsOf(given: Json | undefined): Map<string, Quantity> {
  return new Map(Object.entries(recordOf(given)).map(([name, amount]) => [name, parseQuantity(String(amount))]));
}

/** Formats amounts for an object. */
export function amountsToJson(amounts: Amounts): Record<string, string> {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, amount.toString()]));
}

/** Adds amounts to others, name by name. */
export function addTo(total: Map<string, Quantity>, more: Amounts): void {
  for (const [name, amount] of more) total.set(name, total.get(name)?.add(amount) ?? amount);
}

/** The amounts by which `now` exceeds `then`; zero where it doesn't (`SubtractWithNonNegativeResult`). */
export function increase(now: Amounts, then: Amounts): Amounts {
  const result = new Map<string, Quantity>();
  for (const [name, amount] of now) {
    const before = then.get(name);
    const delta = before === undefined ? amount : amount.sub(before);
    if (delta.sign() > 0) result.set(name, delta);
  }
  return result;
}

/** The amounts of the given names. */
export function masked(amounts: Amounts, names: (name: string) => boolean): Amounts {
  return new Map([...amounts].filter(([name]) => names(name)));
}

/** Formats amounts for errors: `pods=1,requests.cpu=2`. */
export function printAmounts(amounts: Amounts): string {
  return printNames([...amounts].map(([name, amount]) => `${name}=${amount}`));
}

/** Formats names for errors. */
export function printNames(names: readonly string[]): string {
  return [...names].sort().join(',');
}

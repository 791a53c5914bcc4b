import { equal, type JsonObject, Quantity } from 'riata/object';
import { type Amounts, amountsOf, amountsToJson } from '../admission/builtin/quota/amounts.js';
import { countedResource, evaluatorFor } from '../admission/builtin/quota/evaluators.js';
import { podGoneAt } from '../admission/builtin/quota/pod-quota.js';
import type { QuotaEvaluator } from '../admission/builtin/quota/quota-evaluator.js';
import { type QuotaScope, scopesOf } from '../admission/builtin/quota/quota-scope.js';
import { recordOf } from '../resource/metadata.js';

/** The objects of one resource in a namespace. */
export type ObjectsOf = (table: string) => readonly JsonObject[] | undefined;

/** The usage of one quota: summed up once, then updated with each change. */
export class QuotaTally {
  readonly #hard: JsonObject;
  readonly #scopes: readonly QuotaScope[];
  /** The names in `spec.hard` by the table whose objects they count. */
  readonly #names: ReadonlyMap<string, readonly string[]>;
  /** Undefined until the first sum. */
  #used: Map<string, Quantity> | undefined;

  constructor(quota: JsonObject) {
    this.#hard = recordOf(recordOf(quota.spec).hard);
    this.#scopes = scopesOf(quota);
    const names = new Map<string, string[]>();
    for (const name of Object.keys(this.#hard)) {
      const table = countedResource(name);
      if (table !== undefined) names.set(table, [...(names.get(table) ?? []), name]);
    }
    this.#names = names;
  }

  /** Whether it counts the same objects for the same limits as another quota. */
  isOf(quota: JsonObject): boolean {
    return equal(this.#hard, recordOf(recordOf(quota.spec).hard)) && equal(this.#scopes, scopesOf(quota));
  }

  /** Discards the sum, so that it is computed again. */
  reset(): void {
    this.#used = undefined;
  }

  /** Updates the sum for a changed object; returns whether it may have changed. */
  adjust(table: string, before: JsonObject | undefined, after: JsonObject | undefined, nowMs: number): boolean {
    const names = this.#names.get(table);
    if (names === undefined) return false;
    // The Pod may have been counted before its deletion deadline.
    if ([before, after].some((object) => object !== undefined && isOverdue(table, object, nowMs))) this.reset();
    if (this.#used === undefined) return true;
    const [was, is] = [this.#usage(table, before, nowMs), this.#usage(table, after, nowMs)];
    let changed = false;
    for (const name of names) {
      const [less, more] = [was?.get(name), is?.get(name)];
      const sum = this.#used.get(name);
      if (sum === undefined || less === more || (less !== undefined && more?.equals(less) === true)) continue;
      const plus = more === undefined ? sum : sum.add(more);
      this.#used.set(name, less === undefined ? plus : plus.sub(less));
      changed = true;
    }
    return changed;
  }

  /** The desired status of the quota; names that cannot be counted keep their last value. */
  status(before: JsonObject, objects: ObjectsOf, nowMs: number): JsonObject {
    this.#used ??= this.#sum(objects, nowMs);
    const used = amountsOf(recordOf(before.used));
    for (const [name, amount] of this.#used) used.set(name, amount);
    for (const name of used.keys()) if (this.#hard[name] === undefined) used.delete(name);
    return { hard: this.#hard, used: amountsToJson(used) };
  }

  #sum(objects: ObjectsOf, nowMs: number): Map<string, Quantity> {
    const total = new Map<string, Quantity>();
    for (const [table, names] of this.#names) {
      const found = objects(table);
      if (found === undefined) continue;
      for (const name of names) total.set(name, Quantity.of(0));
      for (const object of found) {
        const usage = this.#usage(table, object, nowMs);
        if (usage === undefined) continue;
        for (const name of names) {
          const amount = usage.get(name);
          if (amount !== undefined) total.set(name, (total.get(name) as Quantity).add(amount));
        }
      }
    }
    return total;
  }

  /** The usage of an object; undefined if the quota doesn't count it. */
  #usage(table: string, object: JsonObject | undefined, nowMs: number): Amounts | undefined {
    const evaluator = object && evaluatorOf(table);
    if (object === undefined || evaluator === undefined) return undefined;
    const isCounted = this.#scopes.every((scope) => evaluator.isInScope(object, scope));
    return isCounted ? evaluator.usage(object, nowMs) : undefined;
  }
}

/** Whether two statuses of a quota have equal amounts, in any notation. */
export function isSameStatus(a: JsonObject, b: JsonObject): boolean {
  return ['hard', 'used'].every((field) => {
    const [here, there] = [amountsOf(recordOf(a[field])), amountsOf(recordOf(b[field]))];
    if (a[field] === undefined || b[field] === undefined) return a[field] === b[field];
    return here.size === there.size && [...here].every(([name, amount]) => there.get(name)?.equals(amount) === true);
  });
}

function evaluatorOf(table: string): QuotaEvaluator | undefined {
  const at = table.lastIndexOf('/');
  return evaluatorFor(table.slice(0, at), table.slice(at + 1));
}

function isOverdue(table: string, object: JsonObject, nowMs: number): boolean {
  const goneAt = table === '/pods' ? podGoneAt(object) : undefined;
  return goneAt !== undefined && goneAt < nowMs;
}

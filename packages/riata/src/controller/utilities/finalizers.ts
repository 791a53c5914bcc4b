import {
  addFinalizer,
  containsFinalizer,
  finalizerProblems,
  isDeleting,
  removeFinalizer,
} from '../../object/finalizers.js';
import type { KubeObject } from '../../object/meta.js';
import { equal } from '../../object/value/equal.js';
import { describeObject } from '../../object/with-metadata.js';

/**
 * Cleans up before an object goes (`finalizer.Finalizer`). May be called again after it has succeeded. May give the object
 * back with changes.
 */
export type Finalizer<R extends KubeObject> = (
  object: R,
  options: { readonly signal?: AbortSignal },
  // biome-ignore lint/suspicious/noConfusingVoidType: a finalizer without a return statement is the usual one.
) => R | void | Promise<R | void>;

/** The result of finalizing (`finalizer.Result`). Nothing is written yet. */
export interface FinalizeResult<R extends KubeObject> {
  /** The object with finalizers added or removed. */
  readonly object: R;
  /** True if all but the status differs from what was given: write `object`. */
  readonly updated: boolean;
  /** True if the status differs: write it before the rest, as the object may be deleted then. */
  readonly statusUpdated: boolean;
  /** All failures; their finalizers stay. Write what has succeeded, then throw this. Undefined if nothing failed. */
  readonly error: AggregateError | undefined;
}

/**
 * Several finalizers of one kind, each with its own clean-up (`finalizer.Finalizers`). Where there is one, the `finalize`
 * of `control` is simpler.
 *
 * @example
 * const finalizers = new Finalizers<Cart>().register('shop.example.com/stock', returnToStock);
 * const { object, updated, error } = await finalizers.finalize(cart);
 * if (updated) await client.update(object);
 * if (error) throw error;
 */
export class Finalizers<R extends KubeObject = KubeObject> {
  readonly #finalizers = new Map<string, Finalizer<R>>();

  /** Throws if the name is taken, or is not valid (`Register`). */
  register(name: string, finalizer: Finalizer<R>): this {
    const problems = finalizerProblems(name);
    if (problems.length > 0) {
      throw new TypeError(`Finalizers: ${JSON.stringify(name)} is not a valid finalizer name: ${problems.join('; ')}`);
    }
    if (this.#finalizers.has(name)) {
      throw new Error(`Finalizers: "${name}" is already registered; choose another name`);
    }
    this.#finalizers.set(name, finalizer);
    return this;
  }

  /**
   * For a live object: adds the missing names. For one that is being deleted: calls the remaining finalizers, one after
   * the other in order of registration, and removes the names of those that succeed (`Finalize`).
   */
  async finalize(given: R, options: { readonly signal?: AbortSignal } = {}): Promise<FinalizeResult<R>> {
    let object = given;
    const errors: unknown[] = [];
    for (const [name, finalizer] of this.#finalizers) {
      if (!isDeleting(given)) {
        object = addFinalizer(object, name);
      } else if (containsFinalizer(object, name)) {
        try {
          object = removeFinalizer((await finalizer(object, options)) ?? object, name);
        } catch (error) {
          errors.push(error);
        }
      }
    }
    const { status: before, ...restBefore } = given as R & { readonly status?: unknown };
    const { status: after, ...restAfter } = object as R & { readonly status?: unknown };
    return {
      object,
      updated: object !== given && !equal(restBefore, restAfter),
      statusUpdated: before !== after && !equal(before, after),
      error:
        errors.length === 0
          ? undefined
          : new AggregateError(errors, `${describeObject(given)}: ${errors.length} of its finalizers failed`),
    };
  }
}

import { applyOperation } from '../client/apply.js';
import type { Operation } from '../client/operation.js';
import { setCondition } from '../object/conditions.js';
import type { KindRef } from '../object/kind.js';
import type { Condition, KubeObject } from '../object/meta.js';
import { describeError } from '../runtime/describe-error.js';
import type { StatusCondition, StatusFields } from './reconcile-context.js';

/** What a status has that this knows of. */
interface KnownStatus {
  readonly conditions?: readonly Condition[];
  readonly observedGeneration?: number;
}

const longestMessage = 1024;

/** Writes what one reconcile says of its object. */
export class ObjectStatus<R extends KubeObject> {
  readonly #kind: KindRef<R>;
  readonly #apply: (operation: Operation<'patch'>) => Promise<KubeObject>;
  readonly #fieldManager: string;
  readonly #now: () => string;
  #object: R;
  /** What was said last, in this reconcile. */
  #said: StatusFields<R> | undefined;

  constructor(
    object: R,
    parts: {
      readonly kind: KindRef<R>;
      readonly apply: (operation: Operation<'patch'>) => Promise<KubeObject>;
      readonly fieldManager: string;
      /** The time as objects have it. */
      readonly now: () => string;
    },
  ) {
    this.#object = object;
    this.#kind = parts.kind;
    this.#apply = parts.apply;
    this.#fieldManager = parts.fieldManager;
    this.#now = parts.now;
  }

  /** All is as the object asks for, unless a `Ready` condition says otherwise. */
  say(fields: StatusFields<R>): Promise<R> {
    this.#said = fields;
    return this.#write(fields, { type: 'Ready', status: 'True', reason: 'Reconciled', message: '' });
  }

  /** After a success in which nothing was said: what a failure before has said is not true any more. */
  succeeded(): Promise<unknown> | undefined {
    if (this.#said !== undefined || !keepsConditions(this.#kind)) return undefined;
    const ready = this.#known.conditions?.find(({ type }) => type === 'Ready');
    return ready?.status === 'False' && ready.reason === 'ReconcileFailed' ? this.say(this.#kept()) : undefined;
  }

  /** Keeps what was said so far, and says that it went wrong. */
  async failed(error: unknown): Promise<void> {
    if (!keepsConditions(this.#kind)) return;
    const message = describeError(error).slice(0, longestMessage);
    const { conditions = [], ...rest } = this.#said ?? this.#kept();
    const others = conditions.filter(({ type }) => type !== 'Ready');
    await this.#write({ ...rest, conditions: others } as StatusFields<R>, {
      ...{ type: 'Ready', status: 'False', reason: 'ReconcileFailed', message },
    });
  }

  get #known(): KnownStatus {
    return (this.#object as { readonly status?: KnownStatus }).status ?? {};
  }

  /** What stands there now: applying less would remove the rest. */
  #kept(): StatusFields<R> {
    const { observedGeneration: _, conditions = [], ...rest } = this.#known;
    return { ...rest, conditions: conditions.filter(({ type }) => type !== 'Ready') } as unknown as StatusFields<R>;
  }

  async #write(fields: StatusFields<R>, ready: StatusCondition): Promise<R> {
    const { name, namespace, generation } = this.#object.metadata;
    const { apiVersion, kind } = this.#kind;
    let status: object;
    if (!keepsConditions(this.#kind)) status = this.#asSaid(fields);
    else if (generation === undefined) status = this.#complete(fields, ready);
    else status = { observedGeneration: generation, ...this.#complete(fields, ready) };
    const metadata = namespace ? { name, namespace } : { name };
    const options = { fieldManager: this.#fieldManager, force: true, current: this.#object };
    const operation = applyOperation(this.#kind, { metadata, status, apiVersion, kind } as never, options, 'status');
    try {
      this.#object = (await this.#apply(operation)) as R;
    } catch (error) {
      // What is refused is no part of what is said when that is told as a failure: it would be refused again.
      if (this.#said === fields) this.#said = undefined;
      throw error;
    }
    return this.#object;
  }

  #complete(fields: StatusFields<R>, ready: StatusCondition) {
    const given = fields.conditions;
    const before = this.#known.conditions;
    const now = this.#now();
    if (given === undefined) return { ...fields, conditions: [this.#timed(ready, before, now)] };
    const wanted = given.some(({ type }) => type === 'Ready') ? given : [ready, ...given];
    return { ...fields, conditions: wanted.map((condition) => this.#timed(condition, before, now)) };
  }

  /** Conditions of other kinds have fields of their own, and what is not among them is refused: only the time is added. */
  #asSaid(fields: StatusFields<R>) {
    if (fields.conditions === undefined) return fields;
    const now = this.#now();
    const conditions = fields.conditions.map((condition) => {
      const known = this.#known.conditions?.find(({ type }) => type === condition.type);
      const isSame = known?.status === condition.status && known.lastTransitionTime !== undefined;
      return { lastTransitionTime: isSame ? known.lastTransitionTime : now, ...condition };
    });
    return { ...fields, conditions };
  }

  /** A condition keeps the time of its last transition as long as its status stays. */
  #timed(condition: StatusCondition, before: readonly Condition[] | undefined, now: string): Condition {
    const { reason = 'Reconciled', message = '' } = condition;
    const observedGeneration = this.#object.metadata.generation;
    const complete: Omit<Condition, 'lastTransitionTime'> =
      observedGeneration === undefined
        ? { ...condition, reason, message }
        : { ...condition, reason, message, observedGeneration };
    const known = before?.find(({ type }) => type === condition.type);
    return setCondition(known && [known], complete, now)[0] as Condition;
  }
}

/** Kinds that were made by `defineKind` have conditions; of others only that is written what the reconciler says. */
function keepsConditions(kind: KindRef): boolean {
  return 'crd' in kind && kind.subresources.includes('status');
}

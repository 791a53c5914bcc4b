import { applyOperation } from '../../client/operation/apply-operation.js';
import type { Operation } from '../../client/operation/operation.js';
import { setCondition } from '../../object/conditions.js';
import type { KindRef } from '../../object/kind.js';
import type { Condition, KubeObject } from '../../object/meta.js';
import { describeError } from '../../runtime/log/describe-error.js';
import type { StatusCondition, StatusFields } from '../define/reconcile-context.js';
import type { Request } from '../loop/request.js';
import type { ReportedFailures } from './reported-failures.js';
import type { UndeclaredFields } from './undeclared-field-error.js';

/** The fields of a status that are known here. */
interface KnownStatus {
  readonly conditions?: readonly Condition[];
  readonly observedGeneration?: number;
}

const longestMessage = 1024;
const failureReason = 'ReconcileFailed';
/** The reason of the condition `Paused` that a pausing annotation leads to. */
export const pausedReason = 'PausedByAnnotation';
const readyNow: StatusCondition = { type: 'Ready', status: 'True', reason: 'Reconciled', message: '' };

/** Writes the status of one object, for one reconcile. */
export class ObjectStatus<R extends KubeObject> {
  readonly #kind: KindRef<R>;
  readonly #apply: (operation: Operation<'patch'>) => Promise<KubeObject>;
  readonly #fieldManager: string;
  readonly #now: () => string;
  readonly #key: Request;
  readonly #failures: ReportedFailures;
  readonly #undeclared: UndeclaredFields;
  #object: R;
  /** The reconciler's last write, in this reconcile. */
  #said: StatusFields<R> | undefined;

  constructor(
    object: R,
    parts: {
      readonly kind: KindRef<R>;
      readonly apply: (operation: Operation<'patch'>) => Promise<KubeObject>;
      readonly fieldManager: string;
      /** The time as objects have it. */
      readonly now: () => string;
      readonly key: Request;
      readonly failures: ReportedFailures;
      readonly undeclared: UndeclaredFields;
    },
  ) {
    this.#object = object;
    this.#kind = parts.kind;
    this.#apply = parts.apply;
    this.#fieldManager = parts.fieldManager;
    this.#now = parts.now;
    this.#key = parts.key;
    this.#failures = parts.failures;
    this.#undeclared = parts.undeclared;
  }

  /**
   * Writes the status that the reconciler gives, with a `Ready` condition that is true unless it gives one. If the last
   * reconcile failed, its `Ready` stays until this one has succeeded: otherwise the two would alternate in the status, and
   * each write would cause the next reconcile.
   */
  say(fields: StatusFields<R>): Promise<R> {
    const shown = this.#shownFailure;
    if (shown === undefined) return this.#say(fields, fields, readyNow);
    const conditions = fields.conditions?.filter(({ type }) => type !== 'Ready');
    return this.#say(fields, { ...fields, conditions }, shown);
  }

  /** After a success: clears a failure that an earlier reconcile has reported, unless it is another controller's. */
  succeeded(): Promise<unknown> | undefined {
    if (!keepsConditions(this.#kind)) return undefined;
    if (this.#shownFailure === undefined) this.#failures.forget(this.#key);
    else if (this.#failures.mayClear(this.#key, this.#object)) return this.#clearFailure();
    return undefined;
  }

  #clearFailure(): Promise<unknown> {
    const fields = this.#said ?? this.#kept();
    const isReport = !fields.conditions?.some(({ type }) => type === 'Ready');
    return this.#say(fields, fields, readyNow, isReport);
  }

  /**
   * Reports a failure in `Ready`, and keeps the rest of the status. `isEcho`: the reconcile ran because the object itself
   * had changed, maybe by the last report; then the message stays the same, as one that differs each time would cause one
   * reconcile after the other. `signal` replaces the reconcile's own.
   */
  async failed(error: unknown, { isEcho, signal }: { isEcho: boolean; signal?: AbortSignal }): Promise<void> {
    if (!keepsConditions(this.#kind)) return;
    const shown = this.#shownFailure;
    const isNews = shown === undefined || shown.observedGeneration !== this.#object.metadata.generation;
    const message = isNews || !isEcho ? describeError(error).slice(0, longestMessage) : shown.message;
    const { conditions = [], ...rest } = this.#said ?? this.#kept();
    const others = conditions.filter(({ type }) => type !== 'Ready');
    const ready = { type: 'Ready', status: 'False', reason: failureReason, message } as const;
    await this.#write({ ...rest, conditions: others } as StatusFields<R>, ready, { isReport: true, signal });
    this.#failures.reported(this.#key);
  }

  /** The `Ready` condition, if it shows a failure. */
  get #shownFailure(): Condition | undefined {
    const ready = this.#known.conditions?.find(({ type }) => type === 'Ready');
    return ready?.status === 'False' && ready.reason === failureReason ? ready : undefined;
  }

  async #say(said: StatusFields<R>, fields: StatusFields<R>, ready: StatusCondition, isReport = false): Promise<R> {
    this.#said = said;
    try {
      return await this.#write(fields, ready, { isReport });
    } catch (error) {
      // The report of this failure leaves it out: the server would refuse it again.
      if (this.#said === said) this.#said = undefined;
      throw error;
    }
  }

  get #known(): KnownStatus {
    return (this.#object as { readonly status?: KnownStatus }).status ?? {};
  }

  /** The current status: applying less would remove the rest. */
  #kept(): StatusFields<R> {
    const { observedGeneration: _, conditions = [], ...rest } = this.#known;
    // That of a pause has another field manager, which removes it.
    const own = conditions.filter(({ type, reason }) => type !== 'Ready' && reason !== pausedReason);
    return { ...rest, conditions: own } as unknown as StatusFields<R>;
  }

  /** `isReport`: the reconciler didn't ask for it, and it is no reason to reconcile. */
  async #write(
    fields: StatusFields<R>,
    ready: StatusCondition,
    { isReport, signal }: { readonly isReport: boolean; readonly signal?: AbortSignal },
  ): Promise<R> {
    const { name, namespace, generation } = this.#object.metadata;
    const { apiVersion, kind } = this.#kind;
    let status: object;
    if (!keepsConditions(this.#kind)) status = this.#asSaid(fields);
    else {
      const complete = this.#complete(fields, ready);
      const written = complete.conditions.find(({ type }) => type === 'Ready');
      if (isReport && written !== undefined) this.#failures.writing(this.#key, written);
      status = generation === undefined ? complete : { observedGeneration: generation, ...complete };
    }
    const metadata = namespace ? { name, namespace } : { name };
    const options = { fieldManager: this.#fieldManager, force: true, current: this.#object, signal };
    const operation = applyOperation(this.#kind, { metadata, status, apiVersion, kind } as never, options, 'status');
    try {
      this.#object = (await this.#apply(operation)) as R;
    } catch (error) {
      throw this.#undeclared.explain(this.#kind, error);
    }
    return this.#object;
  }

  #complete(fields: StatusFields<R>, ready: StatusCondition) {
    const given = fields.conditions;
    const before = this.#known.conditions;
    const now = this.#now();
    if (given === undefined) return { ...fields, conditions: [this.#timed(ready, before, now)] };
    const desired = given.some(({ type }) => type === 'Ready') ? given : [ready, ...given];
    return { ...fields, conditions: desired.map((condition) => this.#timed(condition, before, now)) };
  }

  /** Conditions of other kinds have fields of their own, and the server refuses others: adds the time alone. */
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

  /** A condition keeps the time of its last transition as long as its status stays; an existing one is kept whole. */
  #timed(condition: StatusCondition, before: readonly Condition[] | undefined, now: string): Condition {
    if (before?.includes(condition as Condition)) return condition as Condition;
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

/** Kinds made by `defineKind` have conditions; for others only what the reconciler gives is written. */
export function keepsConditions(kind: KindRef): boolean {
  return 'crd' in kind && kind.subresources.includes('status');
}

import { applyOperation } from '../../client/operation/apply-operation.js';
import type { Operation } from '../../client/operation/operation.js';
import { setCondition } from '../../object/conditions.js';
import type { KindRef } from '../../object/kind.js';
import type { Condition, KubeObject } from '../../object/meta.js';
import { describeError } from '../../runtime/log/describe-error.js';
import type { StatusCondition, StatusFields } from '../define/reconcile-context.js';
import type { FailureEchoes } from '../loop/failure-echoes.js';
import type { Request } from '../loop/request.js';
import type { ToldFailures } from '../loop/told-failures.js';
import type { UndeclaredFields } from './undeclared-field-error.js';

/** What a status has that this knows of. */
interface KnownStatus {
  readonly conditions?: readonly Condition[];
  readonly observedGeneration?: number;
}

const longestMessage = 1024;
const failureReason = 'ReconcileFailed';
const readyNow: StatusCondition = { type: 'Ready', status: 'True', reason: 'Reconciled', message: '' };

/** Writes what one reconcile says of its object. */
export class ObjectStatus<R extends KubeObject> {
  readonly #kind: KindRef<R>;
  readonly #apply: (operation: Operation<'patch'>) => Promise<KubeObject>;
  readonly #fieldManager: string;
  readonly #now: () => string;
  readonly #key: Request;
  readonly #failures: ToldFailures;
  readonly #echoes: FailureEchoes;
  readonly #undeclared: UndeclaredFields;
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
      readonly key: Request;
      readonly failures: ToldFailures;
      readonly echoes: FailureEchoes;
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
    this.#echoes = parts.echoes;
    this.#undeclared = parts.undeclared;
  }

  /**
   * All is as the object asks for, unless a `Ready` condition says otherwise. Where the last reconcile has failed, that
   * stands until this one has succeeded: else the two would take turns in the status, and each wake up the next run.
   */
  say(fields: StatusFields<R>): Promise<R> {
    const told = this.#toldFailure;
    if (told === undefined) return this.#say(fields, fields, readyNow);
    const conditions = fields.conditions?.filter(({ type }) => type !== 'Ready');
    return this.#say(fields, { ...fields, conditions }, told);
  }

  /** After a success: what a failure before has said is not true any more, unless it is another controller's. */
  succeeded(): Promise<unknown> | undefined {
    if (!keepsConditions(this.#kind)) return undefined;
    if (this.#toldFailure === undefined) this.#failures.forget(this.#key);
    else if (this.#failures.takeBack(this.#key, this.#object)) return this.#takeBack();
    return undefined;
  }

  #takeBack(): Promise<unknown> {
    const fields = this.#said ?? this.#kept();
    const isOwnWord = !fields.conditions?.some(({ type }) => type === 'Ready');
    return this.#say(fields, fields, readyNow, isOwnWord);
  }

  /**
   * Keeps what was said so far, and says that it went wrong. `isEcho`: it ran as the object itself had changed, which may
   * be no more than what the failure before has said; then a message that differs each time is left to the next try, as
   * it would wake up one run after the other. `signal` ends it, instead of the reconcile's own.
   */
  async failed(error: unknown, { isEcho, signal }: { isEcho: boolean; signal?: AbortSignal }): Promise<void> {
    if (!keepsConditions(this.#kind)) return;
    const told = this.#toldFailure;
    const isNews = told === undefined || told.observedGeneration !== this.#object.metadata.generation;
    const message = isNews || !isEcho ? describeError(error).slice(0, longestMessage) : told.message;
    const { conditions = [], ...rest } = this.#said ?? this.#kept();
    const others = conditions.filter(({ type }) => type !== 'Ready');
    const ready = { type: 'Ready', status: 'False', reason: failureReason, message } as const;
    await this.#write({ ...rest, conditions: others } as StatusFields<R>, ready, { isOwnWord: true, signal });
    this.#failures.told(this.#key);
  }

  /** The `Ready` condition of a failure. */
  get #toldFailure(): Condition | undefined {
    const ready = this.#known.conditions?.find(({ type }) => type === 'Ready');
    return ready?.status === 'False' && ready.reason === failureReason ? ready : undefined;
  }

  async #say(said: StatusFields<R>, fields: StatusFields<R>, ready: StatusCondition, isOwnWord = false): Promise<R> {
    this.#said = said;
    try {
      return await this.#write(fields, ready, { isOwnWord });
    } catch (error) {
      // What is refused is no part of what is said when that is told as a failure: it would be refused again.
      if (this.#said === said) this.#said = undefined;
      throw error;
    }
  }

  get #known(): KnownStatus {
    return (this.#object as { readonly status?: KnownStatus }).status ?? {};
  }

  /** What stands there now: applying less would remove the rest. */
  #kept(): StatusFields<R> {
    const { observedGeneration: _, conditions = [], ...rest } = this.#known;
    return { ...rest, conditions: conditions.filter(({ type }) => type !== 'Ready') } as unknown as StatusFields<R>;
  }

  /** `isOwnWord`: nobody has asked for it to be said, and it is no reason to reconcile. */
  async #write(
    fields: StatusFields<R>,
    ready: StatusCondition,
    { isOwnWord, signal }: { readonly isOwnWord: boolean; readonly signal?: AbortSignal },
  ): Promise<R> {
    const { name, namespace, generation } = this.#object.metadata;
    const { apiVersion, kind } = this.#kind;
    let status: object;
    if (!keepsConditions(this.#kind)) status = this.#asSaid(fields);
    else {
      const complete = this.#complete(fields, ready);
      const written = complete.conditions.find(({ type }) => type === 'Ready');
      if (isOwnWord && written !== undefined) this.#echoes.saying(this.#key, written);
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

  /** A condition keeps the time of its last transition as long as its status stays; one that stands there is kept whole. */
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

/** Kinds that were made by `defineKind` have conditions; of others only that is written what the reconciler says. */
function keepsConditions(kind: KindRef): boolean {
  return 'crd' in kind && kind.subresources.includes('status');
}

import type { ApplyOptions } from '../client/apply.js';
import type { Client, WriteObject } from '../client/interfaces.js';
import type { KubeObject } from '../object/meta.js';
import type { Scheduler } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { ActiveReconcile } from './active-reconcile.js';
import type { ObjectStatus } from './object-status.js';
import type { ReconcileEvent, StatusFields } from './reconcile-context.js';
import type { Cause, Request } from './request.js';

/** What is applied, as far as it is looked at here. */
export type AppliedObject = WriteObject & {
  readonly metadata: { readonly name?: string; readonly namespace?: string };
};

/** Options of `apply`, as reconcilers give them. */
export type OwnedApplyOptions = Omit<ApplyOptions, 'ownedBy' | 'current'> & { readonly owned?: boolean };

/** What a {@link DefinedContext} does, it has done by this. */
export interface ContextWork<R extends KubeObject> {
  /** May throw. */
  apply(
    object: AppliedObject,
    options: OwnedApplyOptions,
    owner: R | undefined,
    run: ActiveReconcile,
  ): Promise<KubeObject>;
  event(object: R | undefined, event: ReconcileEvent): void;
  delegatingFor(run: ActiveReconcile): Client;
}

/**
 * What a reconciler gets; see `ReconcileContext`. What is called is taken out of it by reconcilers, so it stands by
 * itself; what most do without is made when it is asked for.
 */
export class DefinedContext<R extends KubeObject> {
  readonly key: Request;
  readonly attempt: number;
  readonly priority: number;
  readonly reasons: readonly Cause[];
  readonly clock: Scheduler;
  readonly object: R | undefined;
  readonly apply: (wanted: AppliedObject, options?: OwnedApplyOptions) => Promise<KubeObject>;
  readonly status: (fields: StatusFields<R>) => Promise<R>;
  readonly event: (event: ReconcileEvent) => void;
  readonly #work: ContextWork<R>;
  readonly #run: ActiveReconcile;
  #client: Client | undefined;

  constructor(work: ContextWork<R>, run: ActiveReconcile, object: R | undefined, status: ObjectStatus<R> | undefined) {
    this.#work = work;
    this.#run = run;
    this.key = run.key;
    this.attempt = run.attempt;
    this.priority = run.priority;
    this.reasons = run.reasons;
    this.clock = run.clock;
    this.object = object;
    this.apply = (wanted, options = noOptions) => tracked(run, () => work.apply(wanted, options, object, run));
    this.status = (fields) =>
      tracked(run, () => {
        if (status === undefined) throw new TypeError('status: the object is gone, so there is nothing to say of it');
        return status.say(fields);
      });
    this.event = (event) => work.event(object, event);
  }

  get reconcileID(): string {
    return this.#run.reconcileID;
  }

  get signal(): AbortSignal {
    return this.#run.signal;
  }

  get log(): Logger {
    return this.#run.log;
  }

  get client(): Client {
    this.#client ??= this.#work.delegatingFor(this.#run);
    return this.#client;
  }
}

const noOptions: OwnedApplyOptions = Object.freeze({});

/** What it throws is a rejection, too. */
function tracked<T>(run: ActiveReconcile, work: () => Promise<T>): Promise<T> {
  try {
    return run.track(work());
  } catch (error) {
    return run.track(Promise.reject(error));
  }
}

import type { Client, WriteObject } from '../../client/interfaces.js';
import type { ApplyOptions } from '../../client/options.js';
import type { KubeObject } from '../../object/meta.js';
import type { ActiveReconcile } from '../loop/active-reconcile.js';
import type { ReconcileRun } from '../loop/reconciler.js';
import type { ObjectStatus } from '../status/object-status.js';
import type { ReconcileEvent, StatusFields } from './reconcile-context.js';

/** The parts of an applied object that are read here. */
export type AppliedObject = WriteObject & {
  readonly metadata: { readonly name?: string; readonly namespace?: string };
};

/** Options of `apply`, as reconcilers give them. */
export type OwnedApplyOptions = Omit<ApplyOptions, 'ownedBy' | 'current'> & { readonly owned?: boolean };

/** The functions behind a {@link DefinedContext}. */
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

/** The context of a reconciler; see `ReconcileContext`. */
export interface DefinedContext<R extends KubeObject> extends ReconcileRun {
  readonly object: R | undefined;
  readonly client: Client;
  readonly apply: (desired: AppliedObject, options?: OwnedApplyOptions) => Promise<KubeObject>;
  readonly status: (fields: StatusFields<R>) => Promise<R>;
  readonly event: (event: ReconcileEvent) => void;
}

/**
 * Makes it. Reconcilers take functions out of it and spread it into objects of their own, so all of it are own
 * properties that need no `this`; rarely used parts are created on first use.
 */
export function definedContext<R extends KubeObject>(
  work: ContextWork<R>,
  run: ActiveReconcile,
  object: R | undefined,
  status: ObjectStatus<R> | undefined,
): DefinedContext<R> {
  let client: Client | undefined;
  return {
    key: run.key,
    attempt: run.attempt,
    priority: run.priority,
    reasons: run.reasons,
    clock: run.clock,
    span: run.span,
    object,
    get reconcileID() {
      return run.reconcileID;
    },
    get signal() {
      return run.signal;
    },
    get log() {
      return run.log;
    },
    get client() {
      client ??= work.delegatingFor(run);
      return client;
    },
    apply(desired, options = noOptions) {
      return run.calls.track(() => work.apply(desired, options, object, run), { verb: 'apply', args: [desired] });
    },
    status: (fields) => run.calls.track(() => said(status, fields), { verb: 'status', args: [object] }),
    event: (event) => work.event(object, event),
  };
}

const noOptions: OwnedApplyOptions = Object.freeze({});

async function said<R extends KubeObject>(status: ObjectStatus<R> | undefined, fields: StatusFields<R>): Promise<R> {
  if (status === undefined) throw new TypeError('status: the object is gone, so it has no status');
  return await status.say(fields);
}

import type { Key } from '../../client/interfaces.js';
import type { Patch } from '../../client/patch.js';
import type { Json } from '../../object/json.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { createMergePatch } from '../../object/patch/merge-patch.js';
import { equal } from '../../object/value/equal.js';
import { listAt, mapAt } from '../../object/value/value-at.js';
import { isConflict, isNotFound } from '../../rest/errors/error-guards.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { isFinalized } from '../../shared/finalizer-guard.js';
import { HandlerFailure, IgnoreError, isIgnoreError } from '../../shared/ignore-error.js';
import type {
  HandlerContext,
  HandlerRegistration,
  RegisterOptions,
  SharedControllerHandler,
} from '../../shared/shared-controller-handler.js';
import type { TypedController } from '../typed-controller.js';
import { Cond } from './cond.js';
import { messageOf } from './condition-error.js';

/** The status of objects read as `R`. */
export type StatusOf<R extends KubeObject> = R extends { readonly status?: infer Status }
  ? NonNullable<Status>
  : Readonly<Record<string, unknown>>;

/** Returns the desired status of an object, or nothing to keep it. If it throws, the status is kept and it is retried. */
export type StatusHandler<R extends KubeObject> = (
  object: R,
  status: StatusOf<R>,
  context: HandlerContext<R>,
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler that changes nothing has no return statement.
) => StatusOf<R> | undefined | void | Promise<StatusOf<R> | undefined | void>;

/** Options of {@link registerStatusHandler}. */
export interface StatusHandlerOptions extends RegisterOptions {
  /** In logs, errors and metrics. */
  readonly name: string;
  /** The condition that reports the handler's result. @default none */
  readonly condition?: string | Cond;
}

export const statusHandlerOptionNames = optionNames<StatusHandlerOptions>({
  name: true,
  condition: true,
  signal: true,
  transaction: true,
});

/**
 * Registers a handler that returns the desired status of objects (`Register…StatusHandler`). It is not called for objects
 * that are gone. The status is written only if it differs, and the next handlers get the server's response.
 *
 * With `condition`, every run reports its result: `True`, or `False` with the error. A conflict counts as success, since the
 * retry sees the newer object. If the handler itself sets that condition, its value is kept. Kinds made by `defineKind` also
 * get their `observedGeneration`.
 *
 * @example
 * registerStatusHandler(foos, { name: 'count', condition: 'Counted' }, async (foo, status) => ({
 *   ...status, replicas: await count(foo),
 * }));
 */
export function registerStatusHandler<R extends KubeObject>(
  controller: Pick<TypedController<R>, 'kind' | 'registerHandler'>,
  given: StatusHandlerOptions,
  handler: StatusHandler<R>,
): HandlerRegistration {
  const { name, condition, ...options } = given;
  refuseUnknownOptions(`handler "${name}"`, given, statusHandlerOptionNames);
  return controller.registerHandler(name, statusHandler(controller.kind, { condition }, handler), options);
}

/** What {@link registerStatusHandler} registers. */
export function statusHandler<R extends KubeObject>(
  kind: KindRef<R>,
  { condition }: Pick<StatusHandlerOptions, 'condition'>,
  handler: StatusHandler<R>,
): SharedControllerHandler<R> {
  return async (_, object, context) => {
    // A handler before this one may have removed the last finalizer.
    if (object === undefined || isFinalized(object)) return object;
    const cond = typeof condition === 'string' ? new Cond(condition, context) : condition;
    const before = statusOf(object);
    const { said, failure } = await ask(handler, object, before, context);
    const generation = observedBy(kind, object);
    let next: object = said;
    if (cond !== undefined && !hasOwnWord(cond, before, said)) {
      const outcome = failure === undefined || isConflict(failure.error) ? undefined : failure.error;
      next = cond.setError(next, outcome, undefined, generation);
    }
    if (generation !== undefined) next = { ...next, observedGeneration: generation };
    const isSame = equal(before, next);
    const written = isSame ? object : await write(context, object, before, next);
    if (failure === undefined) return written;
    if (isSame) throw failure.error;
    const Failure = isIgnoreError(failure.error) ? IgnoreError : HandlerFailure;
    throw new Failure(messageOf(failure.error), { cause: failure.error, object: written });
  };
}

/** An object's status; an empty one if it has none. */
export function statusOf<R extends KubeObject>(object: R): StatusOf<R> & object {
  return (mapAt(object, 'status') ?? {}) as StatusOf<R> & object;
}

interface Answer<R extends KubeObject> {
  readonly said: StatusOf<R> & object;
  readonly failure?: { readonly error: unknown };
}

async function ask<R extends KubeObject>(
  handler: StatusHandler<R>,
  object: R,
  before: StatusOf<R> & object,
  context: HandlerContext<R>,
): Promise<Answer<R>> {
  try {
    return { said: ((await handler(object, before, context)) ?? before) as StatusOf<R> & object };
  } catch (error) {
    context.signal.throwIfAborted();
    return { said: before, failure: { error } };
  }
}

/** True if the handler has changed the condition itself. */
function hasOwnWord({ type }: Cond, before: object, said: object): boolean {
  const find = (status: object) => listAt(status, 'conditions').find((c) => (c as { type?: unknown }).type === type);
  return before !== said && !equal(find(before), find(said));
}

/** The generation that a status is of: other kinds may have no field for it. */
function observedBy(kind: KindRef, object: KubeObject): number | undefined {
  return 'crd' in kind && kind.subresources.includes('status') ? object.metadata.generation : undefined;
}

/**
 * Patches the status alone, so that a partial object is enough; and only if the object is still the same. Resolves to
 * the given object if it was deleted: its status is no longer needed.
 */
async function write<R extends KubeObject>(
  { client, signal }: HandlerContext<R>,
  object: R,
  before: object,
  next: object,
): Promise<R> {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const key = { name, namespace } as Key<never>;
  const body = { metadata: { uid, resourceVersion }, status: createMergePatch(before as Json, next as Json) };
  const patch = { type: 'merge', body } as unknown as Patch<R>;
  try {
    return await client.patch(key, patch, { subresource: 'status', signal });
  } catch (error) {
    // Also the answer for a kind without the subresource, which is a mistake to report.
    if (!isNotFound(error) || (await client.find(key, { signal }))?.metadata.uid === uid) throw error;
    return object;
  }
}

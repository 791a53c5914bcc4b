import type { KubeObject } from '../../object/meta.js';
import { describeObject } from '../../object/with-metadata.js';
import type { Change } from './change.js';

const brand: unique symbol = Symbol.for('riata.CacheMutationError') as never;

/** Where an error of a handler came from. */
export interface HandlerErrorContext {
  /** The informer's name. */
  readonly informer: string;
  /** The handler's name. */
  readonly handler: string;
  /** The argument of the call. */
  readonly change: Change<KubeObject>;
}

/** Called with the errors of handlers. */
export type HandlerErrorFunc = (error: unknown, context: HandlerErrorContext) => void;

/**
 * A handler tried to change an object of the cache, which all readers share: it is frozen, and nothing was changed.
 * client-go's `CacheMutationDetector` finds such writes later, in tests. `cause` is the error that was thrown.
 */
export class CacheMutationError extends Error {
  constructor({ informer, handler, change }: HandlerErrorContext, cause: Error) {
    const object = change.new ?? change.old;
    const what = object === undefined ? `"${change.key}"` : describeObject(object);
    super(
      `handler "${handler}" of informer "${informer}" tried to change ${what} or another frozen object (${cause.message}); ` +
        'cached objects are shared by all readers; copy them with clone(x), or edit(x, (draft) => { … })',
      { cause },
    );
    this.name = 'CacheMutationError';
    Object.defineProperty(this, brand, { value: true });
  }
}

/** True for a {@link CacheMutationError}, also one of another copy of the package. */
export function isCacheMutationError(error: unknown): error is CacheMutationError {
  return typeof error === 'object' && error !== null && brand in error;
}

/**
 * The messages of V8 for a write to something frozen, by assignment, `delete`, `push`, `sort`, `Object.defineProperty`…
 */
const frozenWrite =
  /^Cannot (?:assign to read only|add|delete|define|redefine) property|^Cannot add\/remove sealed|is not extensible$/;

/** The error to report: a write to a frozen object gets the object's name and the remedy. */
export function explainHandlerError(error: unknown, context: HandlerErrorContext): unknown {
  const isFrozenWrite = error instanceof TypeError && frozenWrite.test(error.message);
  return isFrozenWrite ? new CacheMutationError(context, error) : error;
}

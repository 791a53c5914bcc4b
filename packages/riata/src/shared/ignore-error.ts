import type { KubeObject } from '../object/meta.js';

const ignore: unique symbol = Symbol.for('riata.IgnoreError') as never;
const failure: unique symbol = Symbol.for('riata.HandlerFailure') as never;

/** Options of errors that a handler throws. */
export interface HandlerErrorOptions extends ErrorOptions {
  /** The object for the next handlers, as if it had been returned. @default the one this handler got */
  readonly object?: KubeObject;
}

/**
 * Thrown by a handler to stop early: counts as success, is neither logged nor retried (`ErrIgnore`).
 *
 * @example
 * if (foo.spec.paused) throw new IgnoreError('paused');
 */
export class IgnoreError extends Error {
  override readonly name = 'IgnoreError';
  readonly object: KubeObject | undefined;

  constructor(message = 'ignored', { object, ...options }: HandlerErrorOptions = {}) {
    super(message, options);
    this.object = object;
    Object.defineProperty(this, ignore, { value: true });
  }
}

/** True for an {@link IgnoreError}, also one of another copy of the package, or one that is the cause of the error. */
export function isIgnoreError(error: unknown): boolean {
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < 16; depth += 1) {
    if (ignore in at) return true;
    at = (at as { readonly cause?: unknown }).cause;
  }
  return false;
}

/**
 * Thrown by a handler that failed after it had changed the object: the next handlers get the changed object, and the
 * handler is retried. In Go, it would return an object and an error.
 *
 * @example
 * throw new HandlerFailure('no address yet', { object: updated });
 */
export class HandlerFailure extends Error {
  override readonly name = 'HandlerFailure';
  readonly object: KubeObject | undefined;

  constructor(message: string, { object, ...options }: HandlerErrorOptions = {}) {
    super(message, options);
    this.object = object;
    Object.defineProperty(this, failure, { value: true });
  }
}

/** The object that a thrown error carries. */
export function objectOfError(error: unknown): KubeObject | undefined {
  if (typeof error !== 'object' || error === null || !(ignore in error || failure in error)) return undefined;
  return (error as { readonly object?: KubeObject }).object;
}

import { describeError } from '../../runtime/log/describe-error.js';
import { thrownAt } from '../../runtime/log/user-frame.js';
import type { KubeObject } from '../meta.js';

const brand: unique symbol = Symbol.for('riata.ConversionError');

/** An object could not be converted to another version of its kind. */
export class ConversionError extends Error {
  override readonly name = 'ConversionError';
  readonly [brand] = true;

  constructor(
    object: Pick<KubeObject, 'apiVersion' | 'kind'> & { readonly metadata?: unknown },
    to: string,
    problem: string,
    options?: ErrorOptions,
  ) {
    const { namespace, name } = (object.metadata ?? {}) as Partial<KubeObject['metadata']>;
    const key = [namespace, name ?? '(no name)'].filter((part) => part !== undefined).join('/');
    super(`${object.kind} ${key}: cannot convert from ${object.apiVersion} to ${to}: ${problem}`, options);
  }
}

/** True for a {@link ConversionError}, whichever copy of the library threw it. */
export function isConversionError(error: unknown): error is ConversionError {
  return typeof error === 'object' && error !== null && brand in error;
}

/** What a function of the user threw, with its line; no stack, no folders. */
export function thrownBy(what: string, error: unknown): string {
  const place = thrownAt(error);
  // The API server's clients must not learn the folders of this machine.
  const line = place?.match(/([^\\/(]+:\d+):\d+\)?$/)?.[1];
  return `${what} threw ${describeError(error)}${line === undefined ? '' : ` at ${line}`}`;
}

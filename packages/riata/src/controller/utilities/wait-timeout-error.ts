import type { Duration } from '../../object/duration.js';
import { formatKey, type ObjectKey } from '../../object/key.js';
import type { KubeObject } from '../../object/meta.js';
import { describeError } from '../../runtime/log/describe-error.js';

const brand: unique symbol = Symbol.for('riata.WaitTimeoutError') as never;

/** The parts of a {@link WaitTimeoutError}. */
export interface WaitTimeoutParts {
  readonly kind: string;
  readonly key: ObjectKey;
  readonly timeout: Duration | 'never';
  readonly what: string;
  readonly last: KubeObject | undefined;
  readonly isKnown: boolean;
  readonly cause?: unknown;
}

/** An object did not reach the expected state in time. The message shows its last state: version, deletion, conditions. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError';
  /** As it was last seen; undefined if it did not exist, or nothing was received. */
  readonly last: KubeObject | undefined;

  constructor({ kind, key, timeout, what, last, isKnown, cause }: WaitTimeoutParts) {
    const failure = cause === undefined ? '' : `; the watch failed: ${describeError(cause)}`;
    super(
      `${kind} ${formatKey(key)}: waited ${timeout} in vain until ${what}; ${stateOf(last, isKnown)}${failure}`,
      cause === undefined ? undefined : { cause },
    );
    this.last = last;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** True for a {@link WaitTimeoutError}, also one of another copy of the package. */
export function isWaitTimeout(error: unknown): error is WaitTimeoutError {
  return typeof error === 'object' && error !== null && brand in error;
}

interface SomeCondition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

const mostConditions = 8;

function stateOf(object: KubeObject | undefined, isKnown: boolean): string {
  if (!isKnown) return 'nothing was heard of it from the server';
  if (object === undefined) return 'it is not there';
  const { resourceVersion, generation, deletionTimestamp, finalizers = [] } = object.metadata;
  const facts = [`resourceVersion ${resourceVersion}`];
  if (generation !== undefined) facts.push(`generation ${generation}`);
  if (deletionTimestamp !== undefined) {
    const waiting = finalizers.length > 0 ? `, held by ${finalizers.join(', ')}` : '';
    facts.push(`being deleted since ${deletionTimestamp}${waiting}`);
  }
  const { status } = object as { readonly status?: { readonly phase?: string; readonly conditions?: unknown } };
  if (typeof status?.phase === 'string') facts.push(`phase ${status.phase}`);
  const conditions = Array.isArray(status?.conditions) ? (status.conditions as readonly SomeCondition[]) : [];
  facts.push(...conditions.slice(0, mostConditions).map(describeCondition));
  return `it was last seen with ${facts.join(', ')}`;
}

function describeCondition({ type, status, reason, message }: SomeCondition): string {
  const why = [reason, message].filter(Boolean).join(': ');
  return `${type}=${status}${why === '' ? '' : ` (${why})`}`;
}

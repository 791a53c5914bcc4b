const brand: unique symbol = Symbol.for('riata.stopReason') as never;

/** Why work has to stop. */
export type StopKind = 'Shutdown' | 'Timeout' | 'LostLease' | 'Removed';

/**
 * The reason of an abort that Riata itself requested. Work that ends with one of these was stopped, it did not fail: it
 * is neither counted nor logged as an error. Recognised by a brand, so it works across copies of the package: check
 * with {@link isStopReason}, {@link isShutdown}, {@link isTimeout}, {@link isLostLease} and {@link isRemoved}, not with
 * `instanceof`.
 */
export interface StopReason extends Error {
  readonly [brand]: StopKind;
}

function isKind(value: unknown, kind: StopKind): boolean {
  return isStopReason(value) && value[brand] === kind;
}

/** The process, or the manager, is going down. */
export class Shutdown extends Error implements StopReason {
  override readonly name = 'Shutdown';
  readonly [brand] = 'Shutdown';
  constructor(message = 'shutting down', options?: ErrorOptions) {
    super(message, options);
  }
}

/** The time allowed for the work is over. */
export class Timeout extends Error implements StopReason {
  override readonly name = 'Timeout';
  readonly [brand] = 'Timeout';
  constructor(message = 'timed out', options?: ErrorOptions) {
    super(message, options);
  }
}

/** Another process holds the lease now; work in flight here must not be written. */
export class LostLease extends Error implements StopReason {
  override readonly name = 'LostLease';
  readonly [brand] = 'LostLease';
  constructor(message = 'the lease was lost', options?: ErrorOptions) {
    super(message, options);
  }
}

/** The controller, informer or handler was taken out while the rest keeps running. */
export class Removed extends Error implements StopReason {
  override readonly name = 'Removed';
  readonly [brand] = 'Removed';
  constructor(message = 'removed', options?: ErrorOptions) {
    super(message, options);
  }
}

/** True for {@link Shutdown}, {@link Timeout}, {@link LostLease} and {@link Removed}, and nothing else. */
export function isStopReason(value: unknown): value is StopReason {
  return typeof value === 'object' && value !== null && typeof (value as Partial<StopReason>)[brand] === 'string';
}

/** True for {@link Shutdown}. */
export function isShutdown(value: unknown): value is Shutdown {
  return isKind(value, 'Shutdown');
}

/** True for Riata's own {@link Timeout}; the `TimeoutError` of `AbortSignal.timeout()` is the caller's and is not one. */
export function isTimeout(value: unknown): value is Timeout {
  return isKind(value, 'Timeout');
}

/** True for {@link LostLease}. */
export function isLostLease(value: unknown): value is LostLease {
  return isKind(value, 'LostLease');
}

/** True for {@link Removed}. */
export function isRemoved(value: unknown): value is Removed {
  return isKind(value, 'Removed');
}

/**
 * The reason that a signal was stopped with: undefined while it has not aborted, or when it aborted for another reason.
 */
export function stopReason(signal: AbortSignal | undefined): StopReason | undefined {
  return signal?.aborted && isStopReason(signal.reason) ? signal.reason : undefined;
}

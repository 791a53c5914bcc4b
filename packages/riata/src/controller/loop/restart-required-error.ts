import type { ControllerWork } from './controller-options.js';

const brand: unique symbol = Symbol.for('riata.restartRequired') as never;

/**
 * A controller cannot be replaced while it runs, as the new definition differs in something that is fixed from its start:
 * remove it and add the new one. Recognised across copies of the package: check with {@link isRestartRequired}.
 */
export class RestartRequiredError extends Error {
  override readonly name = 'RestartRequiredError';
  readonly [brand] = true;

  /** `what`: the parts that differ. */
  constructor(controller: string, what: readonly string[]) {
    const parts = what.join(', ');
    super(`controller "${controller}": ${parts} cannot change while it runs; remove it and add the new definition`);
  }
}

/** True for a {@link RestartRequiredError}. */
export function isRestartRequired(error: unknown): error is RestartRequiredError {
  return typeof error === 'object' && error !== null && (error as Partial<RestartRequiredError>)[brand] === true;
}

/** Throws for options by which the queue was made. A `newQueue` cannot be compared with another: the queue stays. */
export function refuseFixedOptions(controller: string, known: ControllerWork, next: ControllerWork): void {
  const different: string[] = [];
  const { priority: before = true } = known;
  const { priority: after = true } = next;
  if (JSON.stringify(before) !== JSON.stringify(after)) different.push('priority');
  if ((known.newQueue === undefined) !== (next.newQueue === undefined)) different.push('newQueue');
  const isOrdered = before === false && (known.fairness === undefined) !== (next.fairness === undefined);
  if (isOrdered) different.push('fairness without priority');
  if (different.length > 0) throw new RestartRequiredError(controller, different);
}

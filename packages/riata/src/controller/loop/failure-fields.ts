import { findApiError } from '../../rest/errors/api-error.js';
import { isConflict } from '../../rest/errors/error-guards.js';
import { describeError } from '../../runtime/log/describe-error.js';
import type { LogFields } from '../../runtime/log/logger.js';
import { errorChain, framesOf, thrownAt } from '../../runtime/log/user-frame.js';
import { isTerminalError } from './terminal-error.js';

const frozenMessage =
  /^Cannot (assign to read only property|add property|delete property|define property|redefine property)/;

/**
 * Log fields for an error of user code: the error, the first place of its stack outside of this library, and a remedy where
 * the message alone does not give one.
 */
export function failureFields(error: unknown): LogFields {
  const at = whereThrown(error);
  const hint = hintFor(error);
  return {
    error: error ?? `${error} was thrown; throw an Error, which has a message and a stack`,
    ...(at !== undefined && { at }),
    ...(hint !== undefined && { hint }),
  };
}

/**
 * The thrown value; an error in its place if reading it throws, as with a revoked proxy or a getter. Callers can then log it
 * and decide by it without care.
 */
export function readableError(thrown: unknown): unknown {
  try {
    isTerminalError(thrown);
    isConflict(thrown);
    failureFields(thrown);
    return thrown;
  } catch (error) {
    return new Error(`cannot read the thrown value: ${describeError(error)}`);
  }
}

/**
 * Whether the thrown value shows a bug in the program, where Go would panic: an error of the language itself, or not an
 * error at all. `fetch` throws a `TypeError` with a cause when the network fails.
 */
export function isMistake(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  return ['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError'].includes(error.name) && error.cause === undefined;
}

/**
 * The first place outside of this package, as `reconcile (/app/main.ts:41:12)`; without one, the first of all, except
 * for answers of the server, which are all created in one place.
 */
function whereThrown(error: unknown): string | undefined {
  const at = thrownAt(error);
  if (at !== undefined || findApiError(error) !== undefined) return at;
  return [...errorChain(error)].map(({ stack }) => framesOf(stack)[0]).findLast((frame) => frame !== undefined);
}

function hintFor(error: unknown): string | undefined {
  if (![...errorChain(error)].some((each) => each instanceof TypeError && frozenMessage.test(each.message)))
    return undefined;
  return 'objects from the cache are shared and frozen; change a copy, with edit(object, (draft) => { … }) or clone(object)';
}

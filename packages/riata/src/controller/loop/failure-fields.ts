import { findApiError } from '../../rest/errors/api-error.js';
import { isConflict } from '../../rest/errors/error-guards.js';
import { describeError } from '../../runtime/log/describe-error.js';
import type { LogFields } from '../../runtime/log/logger.js';
import { errorChain, framesOf, thrownAt } from '../../runtime/log/user-frame.js';
import { isTerminalError } from './terminal-error.js';

const frozenMessage =
  /^Cannot (assign to read only property|add property|delete property|define property|redefine property)/;

/**
 * What a log line says of something that was thrown by somebody else's code: the error, the first place outside of this
 * library that it came by, and what to do about it where the message alone does not tell.
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
 * What was thrown; an error in its place if it throws when it is looked at, as a revoked proxy does, or a getter. Nobody
 * who tells of it or decides by it has to mind that then.
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
 * Whether what was thrown tells of a mistake in the program, where one in Go would panic: what the language itself throws,
 * or no error at all. `fetch` throws a `TypeError` with a cause when the network fails.
 */
export function isMistake(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  return ['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError'].includes(error.name) && error.cause === undefined;
}

/**
 * The first place outside of this package, as `reconcile (/app/main.ts:41:12)`; if there is none, the first of all, but for
 * answers of the server, which all are made in one place.
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

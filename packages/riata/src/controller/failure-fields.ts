import { findApiError } from '../rest/api-error.js';
import { isConflict } from '../rest/error-guards.js';
import { describeError } from '../runtime/describe-error.js';
import type { LogFields } from '../runtime/logger.js';
import { isTerminalError } from './terminal-error.js';
import { framesOf, userFrame } from './user-frame.js';

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
    error: error ?? `${error} was thrown: throw an Error, which says what went wrong and where`,
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
    return new Error(`what was thrown cannot be read: ${describeError(error)}`);
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
  let inmost: string | undefined;
  for (const { stack } of errorChain(error)) {
    const outside = userFrame(stack);
    if (outside !== undefined) return outside;
    inmost = framesOf(stack)[0] ?? inmost;
  }
  return findApiError(error) === undefined ? inmost : undefined;
}

/** The error, its cause, the cause of that…; of many, the first. */
export function* errorChain(error: unknown): Iterable<Error> {
  const seen = new Set<unknown>();
  for (
    let at = error;
    at instanceof Error && !seen.has(at);
    at = at instanceof AggregateError ? at.errors[0] : at.cause
  ) {
    seen.add(at);
    yield at;
  }
}

function hintFor(error: unknown): string | undefined {
  if (![...errorChain(error)].some((each) => each instanceof TypeError && frozenMessage.test(each.message)))
    return undefined;
  return 'what was read is frozen, as others read it, too: change a copy, edit(object, (draft) => { … }) or clone(object)';
}

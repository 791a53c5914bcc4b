import { isApiError } from '../../rest/errors/api-error.js';
import { isTransportError } from '../../rest/errors/transport-error.js';
import type { Answers, Operation, Run, Verb } from './operation.js';

/**
 * Has what fails carry the stack of its caller. Answers come in by callbacks of a socket, so that an error made there
 * knows nothing of who asked; here, the call is awaited, and V8 follows the awaits up to the caller's line.
 */
export async function runForCaller<V extends Verb>(run: Run, operation: Operation<V>): Promise<Answers[V]> {
  try {
    return await run(operation);
  } catch (error) {
    // Other errors come from code that went wrong: their own stack says where.
    if (isApiError(error) || isTransportError(error)) Error.captureStackTrace(error, runForCaller);
    throw error;
  }
}

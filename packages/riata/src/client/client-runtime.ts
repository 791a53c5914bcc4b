import { findApiError } from '../rest/errors/api-error.js';
import type { Runtime } from '../runtime/runtime.js';
import { type KubeClientParts, partsOf } from './kube-client.js';

type ClientRuntime = Partial<Pick<Runtime, 'clock' | 'random'>>;

/**
 * The clock and the randomness of a client, for what works with it and was given none: in a test, a clock of its own would
 * run beside the virtual one. Empty for clients that Riata has not made.
 */
export function clientRuntime(client: object): ClientRuntime {
  const { [partsOf]: parts } = client as { readonly [partsOf]?: KubeClientParts };
  return parts === undefined ? {} : { clock: parts.clock, random: parts.random };
}

/** The same of the client whose call failed with this error, for what is given a function and not the client that it calls. */
export function failedClientRuntime(error: unknown): ClientRuntime {
  return clientRuntime(findApiError(error) ?? {});
}

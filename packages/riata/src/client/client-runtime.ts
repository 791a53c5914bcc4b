import type { Runtime } from '../runtime/runtime.js';
import { type KubeClientParts, partsOf } from './kube-client.js';

/**
 * The clock and the randomness of a client, for what works with it and was given none: in a test, a clock of its own would
 * run beside the virtual one. Empty for clients that Riata has not made.
 */
export function clientRuntime(client: object): Partial<Pick<Runtime, 'clock' | 'random'>> {
  const { [partsOf]: parts } = client as { readonly [partsOf]?: KubeClientParts };
  return parts === undefined ? {} : { clock: parts.clock, random: parts.random };
}

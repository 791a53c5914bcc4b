import type { Runtime } from 'riata/runtime';
import { type FollowedOperator, followOperator } from '../follow-operator.js';
import { urlEndpoint } from '../operator-endpoint.js';

/**
 * Follows `/debug/stream` of an operator whose pages need no token, such as one in the same process. Resolves when it has
 * sent its state, and rejects if it cannot be read.
 *
 * @param url of its metrics or its dashboard
 */
export async function followUrl(
  url: string,
  { runtime, signal }: { readonly runtime: Runtime; readonly signal: AbortSignal },
): Promise<FollowedOperator> {
  const access = { token: async () => undefined, refusal: 'its pages need a token', runtime, signal };
  const endpoint = urlEndpoint(url, access);
  const all = { name: url, all: [endpoint], refresh: async () => {}, [Symbol.asyncDispose]: async () => {} };
  const followed = await followOperator(all, { clock: runtime.clock, signal }).catch(async (error: unknown) => {
    await endpoint[Symbol.asyncDispose]();
    throw error;
  });
  return {
    get replicas() {
      return followed.replicas;
    },
    trouble: () => followed.trouble(),
    async [Symbol.asyncDispose]() {
      await followed[Symbol.asyncDispose]();
      await endpoint[Symbol.asyncDispose]();
    },
  };
}

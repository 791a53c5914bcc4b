import { clientRuntime } from '../../client/client-runtime.js';
import type { Client } from '../../client/interfaces.js';
import { waitForCondition } from '../../controller/utilities/wait-for.js';
import { CustomResourceDefinition } from '../../kinds/index.js';
import { type Duration, durationMs } from '../../object/duration.js';
import type { KindRef } from '../../object/kind.js';
import { isInternalError, isNotFound } from '../../rest/errors/error-guards.js';
import { describeError } from '../../runtime/log/describe-error.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { link } from '../../runtime/signals.js';

/** Options of {@link waitServed}. */
export interface WaitServedOptions {
  /** @default '30s' */
  readonly timeout?: Duration | 'never';
  readonly signal?: AbortSignal;
  /** @default that of the client */
  readonly runtime?: Partial<Pick<Runtime, 'clock'>>;
}

export const waitServedOptionNames = optionNames<WaitServedOptions>({ timeout: true, signal: true, runtime: true });

/**
 * Waits until a definition is established and the server answers for its kind, which it does a moment later. Rejects with
 * a `WaitTimeoutError`, or the reason of a timeout, when the time is over.
 */
export async function waitServed(client: Client, kind: KindRef, options: WaitServedOptions = {}): Promise<void> {
  refuseUnknownOptions('waitServed', options, waitServedOptionNames);
  const { clock } = resolveRuntime({ ...clientRuntime(client), ...options.runtime });
  const { timeout = '30s' } = options;
  const timeoutMs = durationMs(timeout, 'waitServed: timeout');
  using scope = link({ signals: [options.signal], timeoutMs, clock, what: `waiting until ${kind.kind} is served` });
  const name = `${kind.plural}.${kind.group}`;
  await waitForCondition(client, CustomResourceDefinition, { name }, 'Established', {
    ...{ timeout, signal: options.signal, runtime: { clock } },
  });
  for (;;) {
    try {
      await client.list(kind, { limit: 1, signal: scope.signal });
      return;
    } catch (error) {
      // Whether its objects can be converted is another question, which its webhook answers once it runs.
      if (isInternalError(error) && describeError(error).includes('conversion webhook for ')) return;
      if (!isNotFound(error)) throw error;
      await clock.sleep(50, { signal: scope.signal });
    }
  }
}

import { CommandError, exitCodes } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import type { EndpointOptions } from './endpoint-options.js';
import { explanationOf, type ObjectName } from './explanation.js';
import { explanationLines } from './explanation-lines.js';
import { openEndpoints } from './open-endpoints.js';
import { readOperatorState, readReconciles, readWebhookCalls } from './operator-state.js';
import { painter } from './view/text.js';

/** Options of {@link explain}. */
export interface ExplainOptions extends EndpointOptions {
  readonly namespace?: string;
  readonly last: string;
  readonly json?: boolean;
}

/** Prints what a running operator knows about an object. */
export async function explain(io: CommandIo, given: string, options: ExplainOptions): Promise<void> {
  const object = objectName(given, options.namespace);
  const last = countOf('--last', options.last);
  await using endpoints = await openEndpoints(io, options);
  const replicas = await Promise.all(
    endpoints.all.map(async (endpoint) => {
      const [state, reconciles, webhooks] = await Promise.all([
        readOperatorState(endpoint),
        readReconciles(endpoint),
        readWebhookCalls(endpoint),
      ]);
      return { state, reconciles, webhooks };
    }),
  );
  const found = explanationOf(object, replicas);
  if (found.reconciles.length + found.webhooks.length + found.now.length === 0) {
    throw new CommandError(nothingKnown(given, found.controllers, replicas));
  }
  const shown = { ...found, reconciles: found.reconciles.slice(-last), webhooks: found.webhooks.slice(-last) };
  if (options.json) {
    io.out(JSON.stringify({ object, ...shown }, undefined, 2));
    return;
  }
  const nowMs = Math.max(...replicas.map(({ state }) => state.process.now));
  for (const line of explanationLines(shown, nowMs, painter(io.colors))) io.out(line);
  const left = found.reconciles.length - shown.reconciles.length;
  if (left > 0) io.note(`${left} earlier reconciles are left out; show them with --last ${found.reconciles.length}`);
}

function objectName(given: string, namespace: string | undefined): ObjectName {
  const [kind = '', name = '', ...rest] = given.split('/');
  if (kind === '' || name === '' || rest.length > 0) {
    throw new CommandError(`the object must be given as KIND/NAME, got "${given}"; its namespace by -n`, {
      exitCode: exitCodes.usage,
    });
  }
  return { kind, name, ...(namespace !== undefined && { namespace }) };
}

/** Reads the value of an option that must be an integer ≥ 1. */
export function countOf(option: string, given: string): number {
  const count = Number(given);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new CommandError(`${option} must be an integer ≥ 1, got "${given}"`, { exitCode: exitCodes.usage });
}

function nothingKnown(
  given: string,
  controllers: readonly string[],
  replicas: readonly {
    readonly state: { readonly controllers: readonly { readonly name: string }[] };
    readonly reconciles: readonly unknown[];
  }[],
): string {
  const remembered = replicas.reduce((sum, { reconciles }) => sum + reconciles.length, 0);
  const names = [...new Set(replicas.flatMap(({ state }) => state.controllers.map(({ name }) => name)))].sort();
  const hint =
    controllers.length > 0
      ? `controller ${controllers.join(', ')} would reconcile it: does the object exist, and in this namespace?`
      : `no controller is for this kind; they are ${names.join(', ') || 'none'}`;
  return `nothing about ${given} among the ${remembered} reconciles that the operator remembers; ${hint}`;
}

import { dirname } from 'node:path';
import type { ManagerOptions } from 'riata';
import { describeError } from 'riata/runtime';
import { CommandError, exitCodes } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import type { ProjectOptions } from '../command/project-options.js';
import { configPath } from '../config/load-operator.js';
import type { Operator } from '../config/resolve-operator.js';
import { type DevCluster, type DevClusterOptions, openCluster } from './dev-cluster.js';
import { DevLoop } from './dev-loop.js';
import { RunningOperator } from './running-operator.js';
import type { TypeMode } from './type-checker.js';

/** Options of `riata dev`. */
export interface DevOptions extends ProjectOptions, DevClusterOptions {
  readonly types?: TypeMode;
  readonly takeOver?: boolean;
  readonly giveBack?: boolean;
  readonly webhookHost?: string;
}

/** Runs an operator until Ctrl-C, and replaces its code with each save. */
export async function runDev(io: CommandIo, options: DevOptions): Promise<void> {
  const folder = dirname(configPath(io, options.config));
  const isRemote = options.context !== undefined || options.kubeconfig !== undefined;
  const needsCluster = options.takeOver ? '--take-over' : options.giveBack ? '--give-back' : undefined;
  if (needsCluster !== undefined && !isRemote) {
    throw new CommandError(`${needsCluster} requires --context or --kubeconfig: a sandbox has no deployed operator`, {
      exitCode: exitCodes.usage,
    });
  }
  await using cluster = await openCluster(io, folder, options);
  await using running = new RunningOperator({
    optionsFor: (operator) => managerOptions(io, cluster, operator),
    onEnd: (exit) => {
      const why = 'error' in exit ? `: ${describeError(exit.error)}` : '';
      io.note(`the operator has ended, ${exit.reason}${why}; save a file to start it again`);
    },
  });
  const types = options.types ?? (cluster.isSandbox ? 'revert' : 'hold');
  await new DevLoop({ io, project: options, running, types }).run();
}

/** One process on a developer's machine: no lease is needed in a sandbox, and webhooks are called at a free port. */
function managerOptions(io: CommandIo, cluster: DevCluster, { options }: Operator): ManagerOptions {
  const { client: _, leaderElection, sharding, webhooks, ...rest } = options;
  const { service: __, certificates: ___, clientCaFile: ____, ...hooks } = webhooks ?? {};
  return {
    ...rest,
    ...(!cluster.isSandbox && { ...(leaderElection && { leaderElection }), ...(sharding && { sharding }) }),
    config: cluster.config,
    runtime: { ...rest.runtime, clock: io.runtime.clock, log: rest.runtime?.log ?? io.runtime.log },
    webhooks: { ...hooks, host: '127.0.0.1', port: 0 },
  };
}

import { hostname, networkInterfaces, userInfo } from 'node:os';
import { dirname } from 'node:path';
import { pid } from 'node:process';
import { type ConnectedClient, createClient, type ManagerOptions } from 'riata';
import { Node } from 'riata/kinds';
import type { WebhookServerOptions } from 'riata/manager';
import { describeError } from 'riata/runtime';
import { CommandError, exitCodes } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import type { ProjectOptions } from '../command/project-options.js';
import { configPath, loadProjectConfig } from '../config/load-operator.js';
import { isWebhook, type Operator } from '../config/resolve-operator.js';
import { applyFiles } from './apply-files.js';
import { CrashGuard } from './crash-guard.js';
import { type DevCluster, type DevClusterOptions, openCluster } from './dev-cluster.js';
import { DevLoop } from './dev-loop.js';
import { freePort } from './free-port.js';
import { withReconcileLines } from './reconcile-lines.js';
import { RunningOperator } from './running-operator.js';
import { giveBack, type TakeOverParts, takeOver } from './take-over.js';
import type { TypeMode } from './type-checker.js';
import { webhookHost } from './webhook-host.js';

/** Options of `riata dev`. */
export interface DevOptions extends ProjectOptions, DevClusterOptions {
  readonly types?: TypeMode;
  readonly takeOver?: boolean;
  readonly giveBack?: boolean;
  readonly webhookHost?: string;
  /** Files of objects to create. */
  readonly apply?: readonly string[];
}

/** Where the process that gives back after a crash finds the holder whose place it has. */
const holderVariable = 'RIATA_DEV_HOLDER';

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
  if (cluster.isSandbox) {
    await develop(io, options, cluster, { host: '127.0.0.1', port: 0 });
    return;
  }
  await using client = createClient(cluster.config, { runtime: io.runtime });
  if (options.giveBack) await giveBackNow(io, options, client);
  else if (options.takeOver) await inPlace(io, options, cluster, client);
  else await develop(io, options, cluster, await reachableWebhooks(options, cluster, client));
}

/** Without `webhooks`, those of the operator are not served. */
async function develop(
  io: CommandIo,
  options: DevOptions,
  cluster: DevCluster,
  webhooks: WebhookServerOptions | undefined,
): Promise<void> {
  let isReported = false;
  await using running = new RunningOperator({
    optionsFor: (operator) => managerOptions(io, cluster, operator, webhooks),
    accepts: (definition) => {
      if (webhooks !== undefined || !isWebhook(definition)) return true;
      if (!isReported)
        io.note('webhooks are not served: how the cluster reaches this machine is not known; give --webhook-host');
      isReported = true;
      return false;
    },
    onEnd: (exit) => {
      const why = 'error' in exit ? `: ${describeError(exit.error)}` : '';
      io.note(`the operator has ended, ${exit.reason}${why}; save a file to start it again`);
    },
  });
  const types = options.types ?? (cluster.isSandbox ? 'revert' : 'hold');
  const onStarted = () => applyFiles(io, cluster.config, options.apply ?? []);
  await new DevLoop({ io, project: options, running, types, onStarted }).run();
}

async function inPlace(
  io: CommandIo,
  options: DevOptions,
  cluster: DevCluster,
  client: ConnectedClient,
): Promise<void> {
  const parts = await placeOf(io, options, client);
  const guard = guardOf(io, options, parts.holder);
  try {
    const place = await takeOver(parts);
    if (place === undefined)
      io.note(`Deployment ${parts.namespace}/${parts.name} does not exist: nothing to take over`);
    try {
      await develop(io, options, cluster, await reachableWebhooks(options, cluster, client));
    } finally {
      await place?.giveBack();
      if (place !== undefined) io.note(`Deployment ${parts.namespace}/${parts.name} has its replicas again`);
    }
  } finally {
    await guard?.end();
  }
}

async function giveBackNow(io: CommandIo, options: DevOptions, client: ConnectedClient): Promise<void> {
  const parts = await placeOf(io, options, client);
  const isGiven = await giveBack(parts);
  const words = isGiven ? 'has its replicas again' : 'was not taken over: nothing to give back';
  io.out(`Deployment ${parts.namespace}/${parts.name} ${words}`);
}

/** Needs the config alone: code that does not compile must not keep anyone from giving back. */
async function placeOf(io: CommandIo, options: DevOptions, client: ConnectedClient): Promise<TakeOverParts> {
  const { config } = await loadProjectConfig(io, options);
  const { name, namespace = name } = config;
  const holder = io.env[holderVariable] ?? `${userInfo().username}@${hostname()} ${pid}`;
  const { signal, note } = io;
  return { client, name, namespace, holder, clock: io.runtime.clock, note, signal };
}

function guardOf(io: CommandIo, options: DevOptions, holder: string): CrashGuard | undefined {
  if (io.self === undefined) return undefined;
  const { context, kubeconfig, config, conditions = [] } = options;
  const given = Object.entries({ context, kubeconfig, config }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, value],
  );
  const command = [...io.self, 'dev', '--give-back', ...given, ...conditions.flatMap((each) => ['--conditions', each])];
  return new CrashGuard({ command, cwd: io.cwd, env: { ...io.env, [holderVariable]: holder } });
}

/** Where the cluster calls webhooks on this machine; undefined if that is not known. */
async function reachableWebhooks(
  { webhookHost: given, context }: DevOptions,
  { config }: DevCluster,
  client: ConnectedClient,
): Promise<WebhookServerOptions | undefined> {
  // Who may not list nodes gives the host.
  const nodes = await client.list(Node).catch(() => ({ items: [] as Node[] }));
  const addresses = nodes.items.flatMap(({ status }) => status?.addresses ?? []);
  const nodeAddresses = addresses.filter(({ type }) => type === 'InternalIP').map(({ address }) => address);
  const host = given ?? webhookHost({ context, server: config.server, nodeAddresses, interfaces: networkInterfaces() });
  if (host === undefined) return undefined;
  const port = await freePort();
  return { host: '0.0.0.0', port, url: `https://${host.includes(':') ? `[${host}]` : host}:${port}` };
}

/** One process on a developer's machine: no lease is needed in a sandbox, and webhooks are served at an address of their own. */
function managerOptions(
  io: CommandIo,
  cluster: DevCluster,
  { options }: Operator,
  served: WebhookServerOptions | undefined,
): ManagerOptions {
  const { client: _, leaderElection, sharding, webhooks, ...rest } = options;
  const { service: __, certificates: ___, clientCaFile: ____, ...hooks } = webhooks ?? {};
  const { clock } = io.runtime;
  const log = rest.runtime?.log ?? io.runtime.log;
  return {
    ...rest,
    ...(!cluster.isSandbox && { ...(leaderElection && { leaderElection }), ...(sharding && { sharding }) }),
    config: cluster.config,
    runtime: {
      ...rest.runtime,
      clock,
      log: withReconcileLines(log, { show: io.out, monotonic: () => clock.monotonic() }),
    },
    webhooks: { ...hooks, ...served },
  };
}

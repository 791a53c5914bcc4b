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
import { type DevCluster, type DevClusterOptions, openCluster } from './dev-cluster.js';
import { DevDashboard, type DevDashboardOptions } from './dev-dashboard.js';
import { DevLoop } from './dev-loop.js';
import { freePort } from './free-port.js';
import { withReconcileLines } from './reconcile-lines.js';
import { RunningOperator } from './running-operator.js';
import { CrashGuard } from './take-over/crash-guard.js';
import type { LeaseKey, TakenPlace, TakeOverParts } from './take-over/dev-lease.js';
import { type GivenBack, giveBack } from './take-over/give-back.js';
import { holdLease } from './take-over/take-lease.js';
import { type TakeOverWay, takeOver } from './take-over/take-over.js';
import { TypeChecker, type TypeMode } from './types/type-checker.js';
import { webhookHost } from './webhook-host.js';

/** Options of `riata dev`. */
export interface DevOptions extends ProjectOptions, DevClusterOptions, DevDashboardOptions {
  readonly types?: TypeMode;
  readonly takeOver?: TakeOverWay;
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
  const dashboard = options.giveBack ? undefined : await DevDashboard.of(io, options);
  const types = options.types ?? 'hold';
  await using checker = types === 'off' || options.giveBack ? undefined : TypeChecker.of(folder);
  // While the cluster starts: the first check takes longest.
  checker?.warmUp(io.runtime.clock.now());
  await using cluster = await openCluster(io, folder, options);
  const session = { io, options, cluster, dashboard, types, checker };
  if (cluster.isSandbox) {
    await develop(session, { host: '127.0.0.1', port: 0 });
    return;
  }
  await using client = createClient(cluster.config, { runtime: io.runtime });
  if (options.giveBack) await giveBackNow(io, options, client);
  else if (options.takeOver) await inPlace(session, client);
  else await develop(session, await reachableWebhooks(options, cluster, client));
}

/** A run of `riata dev`. */
interface Session {
  readonly io: CommandIo;
  readonly options: DevOptions;
  readonly cluster: DevCluster;
  readonly dashboard: DevDashboard | undefined;
  readonly types: TypeMode;
  readonly checker: TypeChecker | undefined;
  /** Taken from the deployed operator. */
  readonly place?: TakenPlace | undefined;
}

/** Without `webhooks`, those of the operator are not served. */
async function develop(
  { io, options, cluster, dashboard, types, checker, place }: Session,
  webhooks: WebhookServerOptions | undefined,
): Promise<void> {
  let isReported = false;
  await using running = new RunningOperator({
    optionsFor: async (operator) => ({
      ...managerOptions({ io, cluster, place }, operator, webhooks),
      ...(dashboard && { dashboard: await dashboard.optionFor(operator) }),
    }),
    ...(place && {
      beforeStart: async (operator) => {
        const lease = operatorLease(operator, options.takeOver);
        if (lease !== undefined) await place.lead(lease);
      },
    }),
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
  const onStarted = () => {
    dashboard?.show();
    return applyFiles(io, cluster.config, options.apply ?? []);
  };
  await new DevLoop({ io, project: options, running, types, checker, onStarted }).run();
}

async function inPlace(session: Session, client: ConnectedClient): Promise<void> {
  const { io, options, cluster } = session;
  const parts = await placeOf(io, options, client);
  const guard = guardOf(io, options, parts.holder);
  const work = async (place: TakenPlace | undefined) => {
    try {
      await develop({ ...session, place }, await reachableWebhooks(options, cluster, client));
    } finally {
      await place?.giveBack();
    }
  };
  try {
    const deployed = `Deployment ${parts.namespace}/${parts.name}`;
    if (options.takeOver === 'lease') {
      await work(await holdLease(parts));
      io.note('the Lease is released: the deployed operator leads again');
      return;
    }
    const place = await takeOver(parts);
    if (place === undefined) io.note(`${deployed} does not exist: nothing to take over`);
    await work(place);
    if (place !== undefined) io.note(`${deployed} has its replicas again`);
  } finally {
    await guard?.end();
  }
}

async function giveBackNow(io: CommandIo, options: DevOptions, client: ConnectedClient): Promise<void> {
  const parts = await placeOf(io, options, client);
  io.out(describeGiven(await giveBack(parts), `Deployment ${parts.namespace}/${parts.name}`));
}

function describeGiven({ replicas, lease }: GivenBack, deployed: string): string {
  const lines = [
    ...(replicas === undefined ? [] : [`${deployed} has its replicas again: ${replicas}`]),
    ...(lease === undefined ? [] : [`Lease ${lease} is released`]),
  ];
  return lines.length === 0 ? `${deployed} was not taken over: nothing to give back` : lines.join('\n');
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
  return new CrashGuard({ command, cwd: io.cwd, env: { ...withoutDebugger(io.env), [holderVariable]: holder } });
}

/** A debugger would stop the guard together with this process, and take its port before. */
function withoutDebugger(env: CommandIo['env']): CommandIo['env'] {
  const options = env.NODE_OPTIONS?.replace(/(?:^|\s)--inspect\S*/g, '');
  return { ...env, NODE_OPTIONS: options, VSCODE_INSPECTOR_OPTIONS: undefined };
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
  { io, cluster, place }: Pick<Session, 'io' | 'cluster' | 'place'>,
  { options }: Operator,
  served: WebhookServerOptions | undefined,
): ManagerOptions {
  const { client: _client, dashboard: _dashboard, leaderElection, sharding, webhooks, ...rest } = options;
  const { service: _service, certificates: _certificates, clientCaFile: _clientCaFile, ...hooks } = webhooks ?? {};
  const { clock } = io.runtime;
  const log = rest.runtime?.log ?? io.runtime.log;
  return {
    ...rest,
    ...(!cluster.isSandbox && {
      // The Lease stays when the manager starts anew, and is released on exit.
      ...(leaderElection && {
        leaderElection: { ...leaderElection, ...(place && { identity: place.identity, releaseOnStop: false }) },
      }),
      ...(sharding && { sharding }),
    }),
    config: cluster.config,
    runtime: {
      ...rest.runtime,
      clock,
      log: withReconcileLines(log, { show: io.out, monotonic: () => clock.monotonic() }),
    },
    webhooks: { ...hooks, ...served },
  };
}

/** The Lease of the operator's leader election; undefined if it has none and need not have one. */
function operatorLease(
  { options: { leaderElection, sharding } }: Operator,
  way: TakeOverWay | undefined,
): LeaseKey | undefined {
  if (way !== 'lease') return leaderElection;
  if (sharding !== undefined) {
    throw new CommandError(
      '--take-over=lease is for leader election, and the operator is sharded; use --take-over=scale',
    );
  }
  if (leaderElection !== undefined) return leaderElection;
  throw new CommandError(
    '--take-over=lease requires leaderElection in the options of the operator; use --take-over=scale, or add it',
  );
}

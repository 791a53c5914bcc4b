import { resolve } from 'node:path';
import { createClient } from 'riata';
import { Deployment } from 'riata/kinds';
import { silentLogger } from 'riata/runtime';
import { type ClusterOptions, clusterConfig } from '../command/cluster-options.js';
import { CommandError, exitCodes } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import type { ProjectOptions } from '../command/project-options.js';
import { hasConfig } from '../config/has-config.js';
import { loadOperator } from '../config/load-operator.js';
import type { Operator } from '../config/resolve-operator.js';
import { serveDashboard } from './dashboard-server.js';
import { FollowedLinks, type OpenedLink } from './followed-links.js';
import { type OperatorLink, openLink, type PagePort } from './operator-link.js';
import { OperatorPods } from './operator-pods.js';
import { viewerToken } from './viewer-token.js';

/** Options of {@link dashboard}. */
export interface DashboardCommandOptions extends ProjectOptions, ClusterOptions {
  readonly namespace?: string;
  readonly pod?: string;
  readonly podPort?: string;
  readonly port: string;
  readonly tokenFile?: string;
}

interface Place {
  readonly name: string;
  readonly namespace: string;
  /** Where its pages may be, the likely ones first. */
  readonly ports: readonly PagePort[];
}

const knownPorts = [8082, 8080];

/** Serves the dashboard of an operator in a cluster on this machine, until Ctrl-C. */
export async function dashboard(
  io: CommandIo,
  deployment: string | undefined,
  options: DashboardCommandOptions,
): Promise<void> {
  const port = portOf('--port', options.port, 0);
  const place = await placeOf(io, deployment, options);
  const describe = ({ pod, isLeader }: OperatorLink) =>
    `Pod ${place.namespace}/${pod}${isLeader === undefined ? '' : isLeader ? ', the leader' : ', not the leader'}`;
  await using links = new FollowedLinks({
    ...{ isChosen: options.pod !== undefined, clock: io.runtime.clock, signal: io.signal },
    open: () => openTo(io, place, options),
    onMoved: (link) => io.note(describe(link)),
  });
  const first = await links.get();
  await using served = await serveDashboard(io, { port, links });
  const others = links.names.length - 1;
  io.note(`${describe(first)}${others > 0 ? `; ${others} more: choose one with --pod` : ''}`);
  if (first.actRefusal !== undefined) io.note(`you can look, not act: ${first.actRefusal}`);
  io.out(served.url);
  io.note('Ctrl-C stops it');
  await new Promise<void>((done) => {
    if (io.signal.aborted) done();
    else io.signal.addEventListener('abort', () => done(), { once: true });
  });
}

/** Finds the operator's Pods, and links to one of them. */
async function openTo(io: CommandIo, place: Place, options: DashboardCommandOptions): Promise<OpenedLink> {
  const { pod } = options;
  const { signal } = io;
  const pods = await OperatorPods.find(io, options, place);
  try {
    const token = viewerToken(io, options, pods.config);
    const link = await openLink({ pods, ports: place.ports, token, signal, ...(pod !== undefined && { pod }) });
    return { pods, link };
  } catch (error) {
    await pods[Symbol.asyncDispose]();
    throw error;
  }
}

/** The operator of the project, unless a Deployment is named or there is no project. */
async function placeOf(
  io: CommandIo,
  deployment: string | undefined,
  options: DashboardCommandOptions,
): Promise<Place> {
  const { podPort } = options;
  const given = podPort === undefined ? undefined : bothWays([portOf('--pod-port', podPort, 1)]);
  const isProject = options.config !== undefined || hasConfig(resolve(io.cwd));
  if (deployment === undefined && isProject) {
    const { operator } = await loadOperator(io, options);
    const { name, namespace } = operator;
    return { name, namespace: options.namespace ?? namespace, ports: given ?? pagePorts(operator) };
  }
  const config = await clusterConfig(io, options);
  const namespace = options.namespace ?? config.namespace ?? 'default';
  await using client = createClient(config, { runtime: { ...io.runtime, log: silentLogger } });
  const { items } = await client.list(Deployment, { namespace, signal: io.signal });
  const found = deployment === undefined ? items : items.filter(({ metadata }) => metadata.name === deployment);
  const [only, ...others] = found;
  if (only === undefined) {
    const what = deployment === undefined ? 'no Deployment' : `no Deployment "${deployment}"`;
    throw new CommandError(`${what} in namespace ${namespace}; name the operator's namespace with -n`);
  }
  if (others.length > 0) {
    const names = found.map(({ metadata }) => metadata.name).join(', ');
    throw new CommandError(
      `namespace ${namespace} has ${found.length} Deployments (${names}); name the operator's: riata dashboard NAME -n ${namespace}`,
      { exitCode: exitCodes.usage },
    );
  }
  const declared = only.spec?.template.spec?.containers.flatMap(({ ports = [] }) => ports) ?? [];
  const named = declared.filter(({ name }) => name === 'dashboard' || name === 'metrics');
  const ports = [...new Set([...named.map(({ containerPort }) => containerPort), ...knownPorts])];
  return { name: only.metadata.name, namespace, ports: given ?? bothWays(ports) };
}

function bothWays(ports: readonly number[]): readonly PagePort[] {
  return ports.flatMap((port) => [
    { port, isHttps: false },
    { port, isHttps: true },
  ]);
}

/** Those of the manager's options. */
function pagePorts({ name, options: { dashboard: shown, metrics } }: Operator): readonly PagePort[] {
  const own = shown === true ? {} : shown || undefined;
  const ports: PagePort[] = [];
  if (own !== undefined) ports.push({ port: own.port ?? 8082, isHttps: own.tls !== undefined });
  if (metrics?.debug) ports.push({ port: metrics.port, isHttps: metrics.tls !== undefined });
  const known = ports.filter(({ port }) => port !== 0);
  if (known.length > 0) return known;
  throw new CommandError(
    `operator "${name}" serves no /debug pages; set dashboard: true, or metrics: { port: 8080, debug: true, protected: true } in its options`,
  );
}

function portOf(option: string, given: string, least: number): number {
  const port = Number(given);
  if (Number.isInteger(port) && port >= least && port <= 65_535) return port;
  throw new CommandError(`${option} must be an integer from ${least} to 65535, got "${given}"`, {
    exitCode: exitCodes.usage,
  });
}

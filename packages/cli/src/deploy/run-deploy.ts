import { type ConnectedClient, createClient, type WriteObject } from 'riata/client';
import type { Deployment } from 'riata/kinds';
import { type Duration, durationMs } from 'riata/object';
import { type Apply, installCrds } from 'riata/patterns';
import { silentLogger } from 'riata/runtime';
import { clusterConfig } from '../command/cluster-options.js';
import { CommandError, exitCodes } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import { loadOperator } from '../config/load-operator.js';
import { operatorObjects } from '../manifests/operator-objects.js';
import { confirm } from './confirm.js';
import type { DeployCommandOptions } from './deploy-command.js';
import {
  type DeployChange,
  deployedSet,
  isCrd,
  isWebhookConfiguration,
  planDeploy,
  planLines,
} from './deployed-set.js';
import { explainWriteError } from './explain-write-error.js';
import { problemLines, type RolloutProblem } from './rollout-problem.js';
import { waitForRollout } from './wait-for-rollout.js';
import { waitForWebhooks } from './wait-for-webhooks.js';

/** What `riata deploy --json` prints. */
export interface DeployResult {
  readonly server: string;
  readonly namespace: string;
  readonly changes: readonly DeployChange[];
  /** False for a dry run. */
  readonly applied: boolean;
  /** Undefined if it was not waited for. */
  readonly ready?: boolean;
  readonly problems: readonly RolloutProblem[];
}

/** The work of `riata deploy`. */
export async function runDeploy(io: CommandIo, options: DeployCommandOptions): Promise<void> {
  const timeoutMs = timeoutOf(options.timeout);
  const { operator: configured } = await loadOperator(io, options);
  const operator = { ...configured, namespace: options.namespace ?? configured.namespace };
  const objects = withImage(await operatorObjects(operator), operator.image, options.image);
  const config = await clusterConfig(io, options);
  await using client = createClient(config, { runtime: { ...io.runtime, log: silentLogger } });
  const set = deployedSet(client, operator, { ...io.runtime, log: silentLogger });
  const { signal } = io;
  const result = { server: config.server, namespace: operator.namespace };
  const changes = await explained(io, () => planDeploy(client, set, objects, signal));
  const say = options.json ? (line: string) => io.note(line) : (line: string) => io.out(line);
  for (const line of planLines(changes)) say(line);
  if (options.dryRun) return report(io, options, { ...result, changes, applied: false, problems: [] });
  if (changes.length > 0) {
    await confirm(io, `Deploy ${operator.name} to ${config.server}, namespace ${operator.namespace}?`, options.yes);
  }
  const work = { io, client, set, objects, timeoutMs, waits: options.wait };
  const problems = await explained(io, () => apply(work));
  report(io, options, {
    ...result,
    changes,
    applied: true,
    ...(options.wait && { ready: problems.length === 0 }),
    problems,
  });
  if (problems.length === 0) {
    if (options.wait) io.note(`${operator.name} is ready`);
    return;
  }
  const text = problems.flatMap(problemLines).join('\n');
  throw new CommandError(`${operator.name} is deployed, but not ready\n${text}`, { exitCode: exitCodes.failed });
}

interface DeployWork {
  readonly io: CommandIo;
  readonly client: ConnectedClient;
  readonly set: Apply;
  readonly objects: readonly WriteObject[];
  readonly timeoutMs: number;
  readonly waits: boolean;
}

/**
 * Definitions first, then the operator, and when that is ready the webhook configurations: before, the API server would
 * refuse what it cannot have checked. Only the last step prunes.
 */
async function apply({ io, client, set, objects, timeoutMs, waits }: DeployWork): Promise<RolloutProblem[]> {
  const { signal } = io;
  const { clock } = io.runtime;
  const end = clock.monotonic() + timeoutMs;
  const left = () => Math.max(end - clock.monotonic(), 1_000);
  const crds = objects.filter(isCrd);
  if (crds.length > 0) {
    const runtime = { ...io.runtime, log: silentLogger };
    const timeout: Duration = `${Math.ceil(timeoutMs)}ms`;
    await installCrds(client, crds, { signal, timeout, runtime });
  }
  const rest = objects.filter((object) => !isCrd(object));
  const configurations = rest.filter(isWebhookConfiguration);
  if (!waits) {
    await set.apply(rest, { signal });
    return [];
  }
  if (configurations.length > 0)
    await set.apply(
      rest.filter((object) => !isWebhookConfiguration(object)),
      { signal, noDelete: true },
    );
  else await set.apply(rest, { signal });
  for (const { metadata } of rest.filter(({ kind }) => kind === 'Deployment')) {
    const key = { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
    const problems = await waitForRollout(client, key, {
      timeoutMs: left(),
      clock,
      signal,
      onProgress: (state) => io.note(state),
    });
    if (problems.length > 0) return problems;
  }
  if (configurations.length === 0) return [];
  await set.apply(rest, { signal });
  return waitForWebhooks(client, configurations, { timeoutMs: left(), clock, signal });
}

/** Puts another image into the containers that have the operator's. */
export function withImage(
  objects: readonly WriteObject[],
  repository: string,
  image: string | undefined,
): readonly WriteObject[] {
  if (image === undefined) return objects;
  let isFound = false;
  const changed = objects.map((object) => {
    if (object.kind !== 'Deployment') return object;
    const { spec } = object as unknown as Deployment;
    const containers = spec.template.spec?.containers.map((container) => {
      if (container.image?.replace(/(?::[\w.-]+)?(?:@.*)?$/, '') !== repository) return container;
      isFound = true;
      return { ...container, image };
    });
    return {
      ...object,
      spec: { ...spec, template: { ...spec.template, spec: { ...spec.template.spec, containers } } },
    };
  });
  if (isFound) return changed as readonly WriteObject[];
  throw new CommandError(
    `--image: no container of a Deployment has the image ${repository}; set it where the objects are made`,
  );
}

/** The timeout of an option, in milliseconds. */
export function timeoutOf(text: string): number {
  try {
    return durationMs(text as Duration);
  } catch {
    throw new CommandError(`--timeout must be a duration such as 90s or 5m, got "${text}"`, {
      exitCode: exitCodes.usage,
    });
  }
}

/** Runs work; what the cluster refuses becomes a message that people can act on. */
export async function explained<T>(io: CommandIo, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (io.signal.aborted || error instanceof CommandError) throw error;
    throw new CommandError(explainWriteError(error), { cause: error });
  }
}

function report(io: CommandIo, options: DeployCommandOptions, result: DeployResult): void {
  if (options.json) io.out(JSON.stringify(result, null, 2));
}

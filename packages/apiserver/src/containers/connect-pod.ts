import type { JsonObject, KubeObject } from 'riata/object';
import type { Scheduler } from 'riata/runtime';
import type { ServerRequest } from '../http/server-request.js';
import { recordOf, recordsOf, textOf } from '../resource/metadata.js';
import { badRequest } from '../status/refusal.js';
import type { ContainerRuntime, PodConnection, PodObject } from './container-runtime.js';
import { serveCommand } from './serve-command.js';
import { servePortForward } from './serve-port-forward.js';

/** Serves a request over the connection that it came by; `onSwitch` is called when that leaves HTTP. */
export type ServeConnection = (request: ServerRequest, onSwitch: () => void) => Promise<void>;

export interface ConnectionParts {
  readonly clock: Scheduler;
  /** Whether the Pod still exists: a port-forward may outlive it. */
  readonly isThere: () => boolean;
}

/**
 * Connects a client to a Pod (`pods/exec`, `attach`, `portforward`). Undefined if the runtime does not serve that.
 * Throws 400 as kube-apiserver does for a container that is not there.
 */
export function connectPod(
  runtime: ContainerRuntime,
  pod: KubeObject,
  subresource: string,
  options: JsonObject,
  { clock, isThere }: ConnectionParts,
): ServeConnection | undefined {
  const { exec, attach, connect } = runtime;
  const running = pod as PodObject;
  if (subresource === 'exec' && exec !== undefined) {
    const streams = streamsOf(pod, options);
    const command = (options.command ?? []) as readonly string[];
    if (command.length === 0) throw badRequest('you must specify at least 1 command for the container');
    return (request, onSwitch) =>
      serveCommand({ request, onSwitch, streams, clock, process: (io) => exec(running, command, io) });
  }
  if (subresource === 'attach' && attach !== undefined) {
    const streams = streamsOf(pod, options);
    return (request, onSwitch) =>
      serveCommand({ request, onSwitch, streams, clock, process: (io) => attach(running, io) });
  }
  if (subresource === 'portforward' && connect !== undefined) {
    checkRunning(pod);
    const { namespace, name } = pod.metadata;
    const connectTo = (port: number, connection: PodConnection) => {
      if (!isThere()) throw new Error(`pod not found ("${name}_${namespace}")`);
      return connect(running, port, connection);
    };
    return (request, onSwitch) => servePortForward({ request, onSwitch, clock, connect: connectTo });
  }
  return undefined;
}

function checkRunning(pod: KubeObject): void {
  const spec = recordOf((pod as unknown as JsonObject).spec);
  if (textOf(spec.nodeName) === '') throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
}

function streamsOf(pod: KubeObject, options: JsonObject) {
  const { stdin = false, stdout = false, stderr = false, tty = false } = options as Record<string, boolean>;
  if (!stdin && !stdout && !stderr) throw badRequest('you must specify at least one of stdin, stdout, stderr');
  if (tty && stderr) throw badRequest('tty and stderr cannot both be true');
  const container = containerOf(pod, textOf(options.container));
  return { container, stdin, stdout, stderr, tty };
}

/** The container that a request names, or the only one. Throws 400. */
export function containerOf(pod: KubeObject, name: string): string {
  const { metadata } = pod;
  const spec = recordOf((pod as unknown as JsonObject).spec);
  const [containers, others] = [['containers'], ['initContainers', 'ephemeralContainers']].map((lists) =>
    lists.flatMap((list) => recordsOf(spec[list]).map((container) => textOf(container.name))),
  ) as [string[], string[]];
  checkRunning(pod);
  if (name !== '') {
    if ([...containers, ...others].includes(name)) return name;
    throw badRequest(`container ${name} is not valid for pod ${metadata.name}`);
  }
  const [first = ''] = containers;
  if (containers.length === 1) return first;
  const choice = `choose one of: [${containers.join(' ')}]`;
  throw badRequest(`a container name must be specified for pod ${metadata.name}, ${choice}`);
}

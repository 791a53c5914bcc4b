import { Pod } from '../../kinds/generated/groups/core/v1.js';
import type { Random } from '../../runtime/random.js';
import type { KubeClient } from '../kube-client.js';
import { commandOperation } from '../operation/command-operation.js';
import { type DebugOptions, DebugSession } from './debug-session.js';
import { ExecError } from './exec-error.js';

/** Why a container waits, where more waiting will not help. */
const finalReasons: ReadonlySet<string> = new Set([
  ...['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull', 'ImageInspectError'],
  ...['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError', 'RegistryUnavailable'],
]);

/** Adds an ephemeral container to a Pod, waits until it runs, and attaches to it. */
export async function startDebugging(
  client: KubeClient,
  pod: { readonly namespace?: string; readonly name: string },
  options: DebugOptions,
  random: Random,
): Promise<DebugSession> {
  const { image, target, command, stdin = false, tty = false, container, signal, maxRetries, span } = options;
  if (typeof image !== 'string' || image === '')
    throw new TypeError('client.debug: image must be the name of an image');
  const call = { ...(signal && { signal }), ...(maxRetries !== undefined && { maxRetries }), ...(span && { span }) };
  const name = options.name ?? `debugger-${suffix(random)}`;
  const added = {
    ...container,
    ...{ name, image, ...(command && { command }), ...(target !== undefined && { targetContainerName: target }) },
    ...{ stdin: stdin !== false, tty, terminationMessagePolicy: 'File' },
  };
  const key = pod as { readonly namespace: string; readonly name: string };
  // Merged by name on the server: containers that others add at the same time stay.
  const body = { spec: { ephemeralContainers: [added] } };
  await client.subresource('ephemeralcontainers').patch(Pod, key, { type: 'strategic', body }, call);
  const what = `debug Pod ${pod.name}: container ${name}`;
  await untilRunning(client, key, name, what, signal);
  const attach = { container: name, stdin, tty, ...call };
  const socket = await client.run(commandOperation(pod, undefined, attach));
  return new DebugSession(name, socket, what, stdin);
}

async function untilRunning(
  client: KubeClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  container: string,
  what: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const fieldSelector = `metadata.name=${name}`;
  await using watching = client.retryingWatch(Pod, { namespace, fieldSelector, ...(signal && { signal }) });
  for await (const event of watching) {
    if (event.type === 'DELETED') throw new ExecError(`${what}: the Pod was deleted before the container ran`);
    if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue;
    const statuses = event.object.status?.ephemeralContainerStatuses;
    const { running, terminated, waiting } = statuses?.find((status) => status.name === container)?.state ?? {};
    if (running !== undefined) return;
    if (terminated !== undefined) {
      const { exitCode, reason = '', message = '' } = terminated;
      const why = [reason, message].filter((text) => text !== '').join(': ');
      throw new ExecError(
        `${what}: ended with exit code ${exitCode}${why && ` (${why})`} before it was attached to; read its output with client.logs`,
        { exitCode },
      );
    }
    if (finalReasons.has(waiting?.reason ?? '')) {
      const { reason, message = '' } = waiting ?? {};
      throw new ExecError(`${what}: cannot start: ${reason}${message && `: ${message}`}`);
    }
    const phase = event.object.status?.phase;
    if (phase === 'Succeeded' || phase === 'Failed') {
      throw new ExecError(`${what}: cannot start: the Pod has ended (${phase})`);
    }
  }
  signal?.throwIfAborted();
  throw new ExecError(`${what}: the client was closed before the container ran`);
}

/** Five characters that the names of Kubernetes use: none of them spells a word. */
function suffix(random: Random): string {
  const letters = 'bcdfghjklmnpqrstvwxz2456789';
  return Array.from({ length: 5 }, () => letters[random.int(0, letters.length - 1)]).join('');
}

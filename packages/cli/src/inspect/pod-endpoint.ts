import { createClient, isApiError, isNotFound } from 'riata';
import { describeError, silentLogger } from 'riata/runtime';
import { CommandError } from '../command/command-error.js';
import { type EndpointAccess, type OperatorEndpoint, restEndpoint, urlEndpoint } from './operator-endpoint.js';
import type { OperatorPods } from './operator-pods.js';

/** A server in a Pod. */
export interface PodPlace {
  readonly name: string;
  readonly port: number;
  readonly isHttps: boolean;
}

/**
 * An operator in a Pod, read by a port-forward; where the user may not forward ports, or the API server cannot, through the
 * proxy of the API server.
 */
export function podEndpoint(pods: OperatorPods, pod: PodPlace, access: EndpointAccess): OperatorEndpoint {
  let opened: Promise<OperatorEndpoint> | undefined;
  // A Pod that has just started may refuse at first: the next call tries again.
  const reach = async () => {
    opened ??= open(pods, pod, access);
    const now = opened;
    try {
      return await now;
    } catch (error) {
      if (opened === now) opened = undefined;
      throw error;
    }
  };
  return {
    name: nameOf(pods, pod),
    async get<T>(path: string, query?: Readonly<Record<string, string>>) {
      return (await reach()).get<T>(path, query);
    },
    async stream(path, options) {
      return (await reach()).stream(path, options);
    },
    async [Symbol.asyncDispose]() {
      await (await opened?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}

async function open(pods: OperatorPods, pod: PodPlace, access: EndpointAccess): Promise<OperatorEndpoint> {
  const name = nameOf(pods, pod);
  try {
    const forward = await pods.forward(pod.name, pod);
    // The name in the certificate is another one, and the API server has led to the right Pod.
    const endpoint = urlEndpoint(forward.url, access, {
      ...{ name, insecureSkipTlsVerify: pod.isHttps, problem: forward.problem },
    });
    return {
      ...endpoint,
      async [Symbol.asyncDispose]() {
        await endpoint[Symbol.asyncDispose]();
        await forward[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    access.signal.throwIfAborted();
    if (isNotFound(error)) throw new CommandError(`${name} not found; it was replaced, try again`, { cause: error });
    if (!isApiError(error)) throw error;
    return proxyEndpoint(pods, pod, access, describeError(error));
  }
}

/** Reads through the Pod's proxy of the API server. */
function proxyEndpoint(
  pods: OperatorPods,
  pod: PodPlace,
  access: EndpointAccess,
  forwardProblem: string,
): OperatorEndpoint {
  const client = createClient(pods.config, { runtime: { ...access.runtime, log: silentLogger } });
  const { name, port, isHttps } = pod;
  const prefix = `/api/v1/namespaces/${pods.namespace}/pods/${isHttps ? 'https:' : ''}${name}:${port}/proxy`;
  const endpoint = restEndpoint(client.rest, nameOf(pods, pod), prefix, access);
  return {
    ...endpoint,
    async get<T>(path: string, query?: Readonly<Record<string, string>>) {
      try {
        return await endpoint.get<T>(path, query);
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        throw new CommandError(
          `${error.message}\nread through the proxy of the API server, since a port-forward failed: ${forwardProblem}`,
          { cause: error },
        );
      }
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function nameOf({ namespace }: OperatorPods, { name }: PodPlace): string {
  return `Pod ${namespace}/${name}`;
}

import { isApiError } from 'riata';
import { describeError } from 'riata/runtime';
import { CommandError } from '../command/command-error.js';
import { forwardedRequest, jsonOf } from './forwarded-request.js';
import type { OperatorPods, PodForward } from './operator-pods.js';

/** A port of a Pod that may serve the pages below `/debug`. */
export interface PagePort {
  readonly port: number;
  readonly isHttps: boolean;
}

/** A Pod whose pages below `/debug` can be read on this machine. Dispose it to stop the port-forward. */
export interface OperatorLink extends AsyncDisposable {
  readonly pod: string;
  readonly url: string;
  /** Undefined for pages that need none. */
  readonly token: string | undefined;
  /** Why the viewer cannot act with their own rights; undefined if the operator decides. */
  readonly actRefusal: string | undefined;
  /** Undefined if it takes no part in an election, or is older. */
  readonly isLeader: boolean | undefined;
  problem(): string | undefined;
}

/** What {@link openLink} needs. */
export interface LinkParts {
  readonly pods: OperatorPods;
  /** @default the leader, else the first one */
  readonly pod?: string;
  /** The first one that serves the pages is used. */
  readonly ports: readonly PagePort[];
  readonly token: () => Promise<string | undefined>;
  readonly signal: AbortSignal;
}

/** Forwards the port of the pages of one Pod: the named one, else the leader, else the first. */
export async function openLink(parts: LinkParts): Promise<OperatorLink> {
  const { pods, pod } = parts;
  if (pod !== undefined && !pods.names.includes(pod)) {
    throw new CommandError(`--pod: "${pod}" is not a running Pod of the operator; they are ${pods.names.join(', ')}`);
  }
  let first: OperatorLink | undefined;
  for (const name of pod === undefined ? pods.names : [pod]) {
    const link = await linkTo(name, parts).catch(async (error: unknown) => {
      await first?.[Symbol.asyncDispose]();
      throw error;
    });
    if (link.isLeader !== false || pod !== undefined) {
      await first?.[Symbol.asyncDispose]();
      return link;
    }
    if (first === undefined) first = link;
    else await link[Symbol.asyncDispose]();
  }
  return first as OperatorLink;
}

async function linkTo(pod: string, parts: LinkParts): Promise<OperatorLink> {
  const { pods, ports } = parts;
  const problems: string[] = [];
  for (const { port, isHttps } of ports) {
    let forward: PodForward;
    try {
      forward = await pods.forward(pod, { port, isHttps });
    } catch (error) {
      parts.signal.throwIfAborted();
      if (!isApiError(error)) throw error;
      throw new CommandError(
        `Pod ${pods.namespace}/${pod}: cannot forward port ${port}: ${describeError(error)}; you need the right to create pods/portforward`,
        { cause: error },
      );
    }
    const found = await tryPort(forward, { ...parts, podName: pod }).catch(async (error: unknown) => {
      await forward[Symbol.asyncDispose]();
      throw error;
    });
    if (typeof found !== 'string') {
      return {
        ...found,
        pod,
        url: forward.url,
        problem: forward.problem,
        [Symbol.asyncDispose]: () => forward[Symbol.asyncDispose](),
      };
    }
    problems.push(`port ${port}${isHttps ? ' with TLS' : ''}: ${found}`);
    await forward[Symbol.asyncDispose]();
  }
  throw new CommandError(
    `Pod ${pods.namespace}/${pod} serves no /debug pages; set dashboard: true or metrics: { port, debug: true } in the operator's options, or name another port with --pod-port\n${problems.join('\n')}`,
  );
}

type Found = Pick<OperatorLink, 'token' | 'actRefusal' | 'isLeader'>;

/** The reason if the pages are not there. */
async function tryPort(forward: PodForward, parts: LinkParts & { readonly podName: string }): Promise<Found | string> {
  const { pods, signal } = parts;
  const ask = async (token: string | undefined) => {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await forwardedRequest(`${forward.url}/debug/process`, { headers, signal });
    const { leader } = ((await jsonOf(answer)) ?? {}) as { readonly leader?: { readonly isLeader: boolean } };
    return { status: answer.statusCode ?? 0, isLeader: leader?.isLeader };
  };
  const own = await parts.token();
  let answer: Awaited<ReturnType<typeof ask>>;
  try {
    answer = await ask(own);
  } catch (error) {
    signal.throwIfAborted();
    return forward.problem() ?? describeError(error);
  }
  const { isLeader } = answer;
  const noToken =
    'your kubeconfig has no token that can be passed on; give one with --token-file or RIATA_TOKEN (kubectl create token NAME)';
  switch (answer.status) {
    case 200:
      return { token: own, isLeader, actRefusal: own === undefined ? noToken : undefined };
    case 401: {
      if (own !== undefined)
        throw new CommandError(`Pod ${pods.namespace}/${parts.podName}: the token is not known to the cluster`);
      // Those who may make tokens of the operator may look with its rights; what they do has to have their own name.
      const token = await pods.token().catch((error: unknown) => {
        throw new CommandError(`Pod ${pods.namespace}/${parts.podName}: its pages are protected; ${noToken}`, {
          cause: error,
        });
      });
      const second = await ask(token);
      if (second.status === 200) return { token, isLeader: second.isLeader, actRefusal: noToken };
      throw new CommandError(`Pod ${pods.namespace}/${parts.podName}: its pages are protected; ${noToken}`);
    }
    case 403:
      throw new CommandError(
        `Pod ${pods.namespace}/${parts.podName}: you may not get /debug/*; bind a ClusterRole with nonResourceURLs: ['/debug/*'] to your user`,
      );
    default:
      return `status ${answer.status}`;
  }
}

import type { ContainerIo, ContainerRuntime, PodConnection, PodObject, ProcessEnd } from '@riata/apiserver';
import type { Pod } from 'riata/kinds';
import type { PodLogs } from './pod-logs.js';
import { serveHttp } from './serve-http.js';

/** What containers of a sandbox do, as scripts of yours. */
export interface ContainerScripts {
  /**
   * Runs a command of `kubectl exec` or `client.exec`: reads `io.stdin`, writes `io.stdout` and `io.stderr`, and returns
   * the exit code. @default every command fails
   */
  readonly exec?: (pod: Pod, command: readonly string[], io: ContainerIo) => ProcessEnd;
  /** The process of a container, for `kubectl attach` and `client.attach`. @default it writes the container's log */
  readonly attach?: (pod: Pod, io: ContainerIo) => ProcessEnd;
  /**
   * Answers HTTP requests to Pods, through `client.proxy`, `kubectl get --raw …/proxy/` or a port-forward:
   * `(pod, port, request) => new Response('ok')`. Throwing refuses the connection. @default every request is refused
   */
  readonly http?: (pod: Pod, port: number, request: Request) => Response | Promise<Response>;
  /** Serves one connection of a port-forward. @default by `http`, or every connection is refused */
  readonly connect?: (pod: Pod, port: number, connection: PodConnection) => void | Promise<void>;
}

/** The containers of a sandbox: scripts, and the logs that tests write. */
export function scriptedContainers({ exec, attach, connect, http }: ContainerScripts, logs: PodLogs): ContainerRuntime {
  return {
    exec: async (pod, command, io) => {
      if (exec !== undefined) return exec(podOf(pod), command, io);
      throw new Error(`no script for ${command[0]}: containers of a sandbox do what its option "exec" does`);
    },
    attach: async (pod, io) => {
      if (attach !== undefined) return attach(podOf(pod), io);
      const { container, signal } = io;
      const all = { follow: true, previous: false, timestamps: false, sinceMs: undefined, sinceSeconds: undefined };
      const request = { ...all, container, signal, tailLines: 0, limitBytes: undefined };
      for await (const line of logs.read(podOf(pod), request)) await io.stdout(line);
      return 0;
    },
    connect: async (pod, port, connection) => {
      if (connect !== undefined) return connect(podOf(pod), port, connection);
      if (http !== undefined) return serveHttp((request) => http(podOf(pod), port, request), port, connection);
      throw new Error(`connection refused: nothing listens on port ${port}; see the option "connect" of the sandbox`);
    },
    http: async (pod, port, request) => {
      if (http !== undefined) return http(podOf(pod), port, request);
      throw new Error(`connection refused: nothing listens on port ${port}; see the option "http" of the sandbox`);
    },
    nodeHttp: (_node, _port, request) => {
      const { pathname } = new URL(request.url);
      if (pathname === '/healthz') return new Response('ok');
      return new Response('404 page not found\n', { status: 404 });
    },
    log: (pod, request) => logs.read(podOf(pod), request),
  };
}

function podOf(pod: PodObject): Pod {
  return pod as unknown as Pod;
}

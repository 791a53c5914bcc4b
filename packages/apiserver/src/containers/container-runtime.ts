import type { KubeObject } from 'riata/object';

/** A Pod as the server holds it. */
export type PodObject = KubeObject & { readonly spec: unknown; readonly status?: unknown };

/** The streams of a process in a container, seen from inside. */
export interface ContainerIo {
  /** The container's name. */
  readonly container: string;
  /** What the client sends, until it ends its input; empty without stdin. */
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Writes to stdout. Resolves when more can be written: await it, and a slow client slows the process down. */
  stdout(output: string | Uint8Array): Promise<void>;
  /** The same for stderr; with a terminal it goes to stdout. */
  stderr(output: string | Uint8Array): Promise<void>;
  /** Whether there is a terminal. */
  readonly tty: boolean;
  /** The size of the terminal, at first and after each change. */
  readonly sizes: AsyncIterable<{ readonly columns: number; readonly rows: number }>;
  /** Aborts when the client has disconnected. */
  readonly signal: AbortSignal;
}

/** One TCP connection to a port of a Pod, seen from inside. */
export interface PodConnection {
  /** What the client sends, until it ends its side. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Sends bytes. Resolves when more can be sent. */
  write(output: string | Uint8Array): Promise<void>;
  /** Aborts when the client has disconnected. */
  readonly signal: AbortSignal;
}

/** The part of a container's log that is asked for. */
export interface LogRequest {
  readonly container: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  /** Lines from before this are left out, in milliseconds since the epoch. */
  readonly sinceMs: number | undefined;
  /** Lines older than this are left out. */
  readonly sinceSeconds: number | undefined;
  /** Aborts when the client has disconnected. */
  readonly signal: AbortSignal;
}

/** How a process ends: with an exit code, 0 by default. An error that it throws reaches the client as a failure. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a result exits with 0
export type ProcessEnd = number | void | Promise<number | void>;

/**
 * What runs in containers, for a server without nodes: it serves exec, attach, port-forward, proxies and logs of Pods that
 * have a node. What is left out is refused as by a node that cannot be reached.
 */
export interface ContainerRuntime {
  /** Runs a command. */
  readonly exec?: (pod: PodObject, command: readonly string[], io: ContainerIo) => ProcessEnd;
  /** Attaches to the process of a container. */
  readonly attach?: (pod: PodObject, io: ContainerIo) => ProcessEnd;
  /** Serves one connection to a port; throwing refuses it. */
  readonly connect?: (pod: PodObject, port: number, connection: PodConnection) => void | Promise<void>;
  /**
   * Answers a request that comes through the proxy of a Pod or a Service, as an HTTP server in the Pod would:
   * `(pod, port, request) => new Response('ok')`. Throwing means that it cannot be reached.
   */
  readonly http?: (pod: PodObject, port: number, request: Request) => Response | Promise<Response>;
  /** The same for the proxy of a Node; 10250 is the port of the kubelet. */
  readonly nodeHttp?: (node: KubeObject, port: number, request: Request) => Response | Promise<Response>;
  /** Reads a log. */
  readonly log?: (pod: PodObject, request: LogRequest) => AsyncIterable<Uint8Array>;
}

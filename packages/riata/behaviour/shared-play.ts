import { type ConnectedClient, createClient } from '../src/client/index.js';
import type { RestConfig, Transport } from '../src/rest/index.js';
import { httpTransport } from '../src/rest/index.js';
import { silentLogger } from '../src/runtime/index.js';
import { SharedControllerFactory, type SharedControllerFactoryOptions } from '../src/shared/index.js';
import type { TestServer } from './servers.js';

/** The same server, and all that is asked of it: `GET /api/v1/pods?watch=true…`; `seen` is told before it is sent. */
export function counted(
  config: RestConfig,
  seen: (request: string) => void = () => {},
): { config: RestConfig; requests: string[]; transport: Transport } {
  const requests: string[] = [];
  const inner = config.transport ?? httpTransport(config);
  const isOwn = config.transport === undefined;
  const close = async () => {
    if (isOwn) await inner.close();
  };
  const transport: Transport = {
    dispatch(request, sink) {
      const line = `${request.method} ${request.path}`;
      requests.push(line);
      seen(line);
      if (!request.path.includes('watch=')) return inner.dispatch(request, sink);
      inner.dispatch(request, {
        onHeaders(status, headers, flow) {
          // A server that is not ready for it yet says so, and is asked again: that is no second watch.
          const at = requests.lastIndexOf(line);
          if (status >= 400 && at >= 0) requests[at] = `refused: ${line}`;
          sink.onHeaders(status, headers, flow);
        },
        onData: (chunk) => sink.onData(chunk),
        onEnd: () => sink.onEnd(),
        onError: (error) => sink.onError(error),
      });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  return { config: { ...config, transport }, requests, transport };
}

/** How many watches of a resource were begun, without those that the server has refused. */
export function watchesOf(requests: readonly string[], resource: string): number {
  return requests.filter((request) => new RegExp(`^GET .*/${resource}\\?.*watch=(true|1)`).test(request)).length;
}

/** A factory, its connection, and what that was asked for. */
export interface SharedPlay extends AsyncDisposable {
  readonly factory: SharedControllerFactory;
  readonly client: ConnectedClient;
  readonly requests: readonly string[];
  /** Aborts when the block is left. */
  readonly signal: AbortSignal;
}

/** A factory for one namespace that lives until the block is left. */
export function startShared(
  server: TestServer,
  namespace: string,
  options: SharedControllerFactoryOptions = {},
): SharedPlay {
  const { config, requests, transport } = counted(server.config);
  const runtime = { log: silentLogger, ...options.runtime };
  const client = createClient(config, { runtime });
  const stop = new AbortController();
  const cacheDefaults = { namespaces: [namespace] };
  const factory = new SharedControllerFactory(client, { cacheDefaults, ...options, runtime });
  return {
    ...{ factory, client, requests, signal: stop.signal },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await factory[Symbol.asyncDispose]();
      await client.close();
      await transport.close();
    },
  };
}

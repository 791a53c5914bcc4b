import type { RequestRecorder, TestConnection, TestEnvironment } from '@riata/testing';
import { type ConnectedClient, createClient } from 'riata/client';
import type { KindRef } from 'riata/object';
import { silentLogger } from 'riata/runtime';
import { SharedControllerFactory, type SharedControllerFactoryOptions } from 'riata/shared';

/** How many watches of a kind were begun; a server that is not ready yet refuses one, and is asked again: that is no second. */
export function watchesOf(requests: RequestRecorder, kind: KindRef): number {
  return requests.select({ verb: 'watch', kind }).filter(({ code = 200 }) => code < 400).length;
}

/** What a factory needs of a connection; the rest of a {@link TestConnection} may be missing. */
export type PlayConnection = Pick<TestConnection, 'config' | 'requests' | 'close'>;

/** A factory, its connection, and what that was asked for. */
export interface SharedPlay extends AsyncDisposable {
  readonly factory: SharedControllerFactory;
  readonly client: ConnectedClient;
  readonly requests: RequestRecorder;
  /** Aborts when the block is left. */
  readonly signal: AbortSignal;
}

/** A factory for one namespace that lives until the block is left. */
export function startShared(
  server: TestEnvironment,
  namespace: string,
  { connection = server.connect(), ...options }: SharedControllerFactoryOptions & { connection?: PlayConnection } = {},
): SharedPlay {
  const { config, requests } = connection;
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
      await connection.close();
    },
  };
}

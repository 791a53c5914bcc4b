import process from 'node:process';
import type { Client } from '../../client/interfaces.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { EndpointRoute } from '../probes/http-endpoint.js';
import { actionRoute } from './action-route.js';
import { CacheLags } from './cache-lag.js';
import type { StateSource } from './collect-state.js';
import type { DebugStream } from './debug-stream.js';
import { objectRoutes } from './object-routes.js';
import { ShownObjects, type ShownObjectsSource } from './shown-objects.js';
import { Viewers } from './viewer.js';
import type { WriteLog } from './write-log.js';

/** What {@link debugRoutes} show. */
export interface DebugParts {
  readonly source: StateSource & ShownObjectsSource;
  readonly stream: DebugStream;
  readonly writes: WriteLog | undefined;
  readonly client: Client;
  readonly runtime: Runtime;
  /** Whether each caller has a token that was reviewed. */
  readonly isProtected: boolean;
}

/** Routes by path, of GET and of POST requests. */
export interface DebugRoutes {
  readonly routes: readonly (readonly [string, EndpointRoute])[];
  readonly posts: readonly (readonly [string, EndpointRoute])[];
}

/** The debug endpoints that the dashboard reads: `/debug/stream`, `/debug/objects` and the others. */
export function debugRoutes({ source, stream, writes, client, runtime, isProtected }: DebugParts): DebugRoutes {
  const shown = new ShownObjects(source);
  const viewers = new Viewers({
    ...{ client, clock: runtime.clock, isProtected },
    clusterClient: (name) => source.clusters.get(name)?.client,
    isInCluster: (process.env.KUBERNETES_SERVICE_HOST ?? '') !== '',
  });
  return {
    routes: [
      ['/debug/stream', stream.route],
      ['/debug/cache-lag', new CacheLags(source, runtime.clock).route],
      ...objectRoutes({ shown, viewers, writes, clock: runtime.clock, mask: source.mask }),
    ],
    posts: [
      ['/debug/actions', actionRoute({ shown, viewers, clock: runtime.clock, log: runtime.log, mask: source.mask })],
    ],
  };
}

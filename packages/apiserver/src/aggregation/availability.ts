import type { JsonObject } from 'riata/object';
import { numberOf, recordOf, recordsOf, textOf } from '../resource/metadata.js';
import type { Storage } from '../storage/storage.js';
import { endpointSlicesOf, isReady } from '../webhook-client/service-resolver.js';
import { type RemoteRequests, TimeoutError } from './remote-requests.js';
import type { RemoteService, ServedVersion } from './remote-service.js';

/** What the condition `Available` of an APIService says. */
export interface Availability {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** An APIService whose condition says so; since when is kept while the status stays the same. */
export function withAvailability(
  apiService: JsonObject,
  { status, reason, message }: Availability,
  now: string,
): JsonObject {
  const given = recordOf(apiService.status);
  const conditions = recordsOf(given.conditions);
  const before = conditions.find(({ type }) => type === 'Available');
  const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? now) : now;
  const condition = { type: 'Available', status, lastTransitionTime, reason, message };
  const others = conditions.filter((one) => one !== before);
  return { ...apiService, status: { ...given, conditions: [...others, condition] } };
}

/** What {@link availabilityOf} looks at. */
export interface AvailabilityParts {
  readonly storage: Storage;
  readonly requests: RemoteRequests;
  /** Whether the embedding program says itself where a Service is reached. */
  readonly isResolved: (remote: RemoteService) => boolean;
  readonly stopping: AbortSignal;
}

/** Whether an aggregated API server can be reached, with kube-aggregator's reasons and messages. */
export async function availabilityOf(
  parts: AvailabilityParts,
  served: ServedVersion,
  remote: RemoteService,
): Promise<Availability> {
  const { requests, stopping } = parts;
  // A handler, or an address that was given, stands for the Service and its endpoints.
  const isGiven = requests.isInProcess(remote) || parts.isResolved(remote);
  const missing = isGiven ? undefined : missingPart(parts.storage, remote);
  if (missing !== undefined) return missing;
  const path = `/apis/${served.group}/${served.version}`;
  const shown = shownUrl(requests, remote, path);
  try {
    const { status } = await requests.get(remote, path, '*/*', stopping);
    if (status >= 200 && status < 300) return { status: 'True', reason: 'Passed', message: 'all checks passed' };
    return failed(`failing or missing response from ${shown}: bad status from ${shown}: ${status}`);
  } catch (error) {
    if (stopping.aborted) throw error;
    const why = error instanceof TimeoutError || error instanceof Error ? error.message : String(error);
    return failed(`failing or missing response from ${shown}: Get ${JSON.stringify(shown)}: ${why}`);
  }
}

function failed(message: string): Availability {
  return { status: 'False', reason: 'FailedDiscoveryCheck', message };
}

/** The URL that is asked, as messages show it: with the address that a Service leads to. */
function shownUrl(requests: RemoteRequests, remote: RemoteService, path: string): string {
  const { namespace, name, port } = remote.service;
  if (requests.isInProcess(remote)) return `https://${name}.${namespace}.svc:${port}${path}`;
  try {
    const { host, port: at } = requests.addressOf(remote);
    return `https://${host.includes(':') ? `[${host}]` : host}:${at}${path}`;
  } catch {
    return `https://${name}.${namespace}.svc:${port}${path}`;
  }
}

function missingPart(storage: Storage, { service }: RemoteService): Availability | undefined {
  const { namespace, name, port } = service;
  const at = `service/${name} in ${JSON.stringify(namespace)}`;
  const no = (reason: string, message: string): Availability => ({ status: 'False', reason, message });
  const stored = storage.get('/services', `${namespace}/${name}`);
  if (stored === undefined) return no('ServiceNotFound', `${at} is not present`);
  const spec = recordOf((stored.object as unknown as { readonly spec?: JsonObject }).spec);
  if ((textOf(spec.type) || 'ClusterIP') !== 'ClusterIP') return undefined;
  const found = recordsOf(spec.ports).find((one) => numberOf(one.port) === port);
  if (found === undefined) return no('ServicePortError', `${at} is not listening on port ${port}`);
  const slices = endpointSlicesOf(storage, namespace, name);
  if (slices.length === 0) return no('EndpointsNotFound', `cannot find endpointslices for ${at}`);
  const portName = textOf(found.name);
  const isActive = (slice: JsonObject) =>
    recordsOf(slice.endpoints).some(isReady) &&
    recordsOf(slice.ports).some((one) => textOf(one.name) === portName && typeof one.port === 'number');
  if (slices.some(isActive)) return undefined;
  const problem = `endpointslices for ${at} have no addresses with port name ${JSON.stringify(portName)}`;
  return no('MissingEndpoints', problem);
}

import { compareKubeVersions, isJsonObject, type JsonObject, type KubeObject } from 'riata/object';
import { numberOf, recordOf, recordsOf, textOf } from '../resource/metadata.js';
import type { ServiceReference } from '../webhook-client/service-resolver.js';
import { pemOf } from '../webhook-client/webhook-caller.js';

/** What an APIService says of one version of a group. */
export interface ServedVersion {
  /** That of the APIService. */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** Who serves it; undefined: this server itself. */
  readonly remote: RemoteService | undefined;
}

/** An API server that this one hands requests on to. */
export interface RemoteService {
  readonly service: ServiceReference;
  /** PEM. */
  readonly ca: string | undefined;
  readonly insecure: boolean;
  /** Whether the condition says so: otherwise every request gets 503. */
  readonly available: boolean;
}

/** Reads an APIService. */
export function servedVersion(object: KubeObject): ServedVersion {
  const { spec: given } = object as unknown as { readonly spec?: JsonObject };
  const spec = recordOf(given);
  return {
    name: object.metadata.name,
    group: textOf(spec.group),
    version: textOf(spec.version),
    groupPriority: numberOf(spec.groupPriorityMinimum),
    versionPriority: numberOf(spec.versionPriority),
    remote: isJsonObject(spec.service) ? remoteOf(object, spec, spec.service) : undefined,
  };
}

function remoteOf(object: KubeObject, spec: JsonObject, service: JsonObject): RemoteService {
  return {
    service: { namespace: textOf(service.namespace), name: textOf(service.name), port: numberOf(service.port) || 443 },
    ca: pemOf(textOf(spec.caBundle)),
    insecure: spec.insecureSkipTLSVerify === true,
    available: isAvailable(object as unknown as JsonObject),
  };
}

function isAvailable(object: JsonObject): boolean {
  const conditions = recordsOf(recordOf(object.status).conditions);
  return conditions.some(({ type, status }) => type === 'Available' && status === 'True');
}

/** A group, the versions in the order of their priorities. */
export interface ServedGroup {
  readonly name: string;
  readonly versions: readonly ServedVersion[];
}

/** The groups in the order in which discovery names them (`SortedByGroupAndVersion`). */
export function sortedGroups(all: readonly ServedVersion[]): readonly ServedGroup[] {
  const groups = new Map<string, ServedVersion[]>();
  const byPriority = (a: ServedVersion, b: ServedVersion) =>
    b.groupPriority - a.groupPriority || (a.name < b.name ? -1 : 1);
  for (const one of [...all].sort(byPriority)) groups.set(one.group, [...(groups.get(one.group) ?? []), one]);
  const byVersion = (a: ServedVersion, b: ServedVersion) =>
    b.versionPriority - a.versionPriority || compareKubeVersions(b.version, a.version);
  return [...groups].map(([name, versions]) => ({ name, versions: versions.sort(byVersion) }));
}

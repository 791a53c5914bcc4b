import type { RetryingWatchEvent } from 'riata/client';
import type { ConfigMap } from 'riata/kinds';
import type { WatchEvent } from 'riata/rest';
import type { FaultRequest } from './fault-server.js';

export const configMap = (name: string, resourceVersion: number, data: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'shop', name, uid: `uid-${name}`, resourceVersion: String(resourceVersion) },
  data,
});

/** As the server sends it: the type is on the list, not on its items. */
export const configMapList = (resourceVersion: number, items: readonly ReturnType<typeof configMap>[]) =>
  JSON.stringify({
    kind: 'ConfigMapList',
    apiVersion: 'v1',
    metadata: { resourceVersion: String(resourceVersion) },
    items: items.map(({ apiVersion: _, kind: __, ...rest }) => rest),
  });

/** A line of a watch. */
export const eventLine = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;
export const added = (name: string, resourceVersion: number) => eventLine('ADDED', configMap(name, resourceVersion));

export const failure = (code: number, reason: string, message = reason) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  code,
});
export const errorLine = (code: number, reason: string, message?: string) =>
  eventLine('ERROR', failure(code, reason, message));

export const json = { 'content-type': 'application/json' };

export function queryOf({ path }: FaultRequest): URLSearchParams {
  return new URL(path, 'http://server').searchParams;
}

/** `list`, or `watch` and the resourceVersion that it starts from. */
export function what(request: FaultRequest): string {
  const query = queryOf(request);
  return query.get('watch') === 'true' ? `watch ${query.get('resourceVersion')}` : 'list';
}

/** An event in few words. */
export function short(event: RetryingWatchEvent<ConfigMap> | WatchEvent<ConfigMap>): string {
  if (event.type === 'RESET') return 'RESET';
  if (event.type === 'SYNCED') return `SYNCED ${event.resourceVersion}`;
  if (event.type === 'ERROR') return `ERROR ${event.error.code}`;
  const { name, resourceVersion } = event.object.metadata as { name?: string; resourceVersion?: string };
  return event.type === 'BOOKMARK' ? `BOOKMARK ${resourceVersion}` : `${event.type} ${name} ${resourceVersion}`;
}

import type { Json, JsonObject } from 'riata/object';

/** The fields of Events in `events.k8s.io/v1` that have another name in `v1`. */
const names: readonly (readonly [events: string, core: string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
];
const toEvents: ReadonlyMap<string, string> = new Map(names.map(([events, core]) => [core, events]));
const toCore: ReadonlyMap<string, string> = new Map(names);

/** Shown in `v1` even when they are empty. */
const shownInCore = { reportingComponent: '', reportingInstance: '' };

/** An Event of `v1` as one of `events.k8s.io/v1`. */
export function eventFromCore(event: JsonObject): JsonObject {
  const { reportingComponent, reportingInstance, ...rest } = event;
  const given = Object.entries({ reportingComponent, reportingInstance }).filter(([, value]) => value !== '');
  return { ...rename({ ...rest, ...fromEntries(given) }, toEvents), apiVersion: 'events.k8s.io/v1' };
}

/** An Event of `events.k8s.io/v1` as one of `v1`. */
export function eventToCore(event: JsonObject): JsonObject {
  return { ...shownInCore, ...rename(event, toCore), apiVersion: 'v1' };
}

function rename(object: JsonObject, to: ReadonlyMap<string, string>): JsonObject {
  return fromEntries(Object.entries(object).map(([name, value]) => [to.get(name) ?? name, value]));
}

function fromEntries(entries: readonly (readonly [string, Json | undefined])[]): JsonObject {
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as JsonObject;
}

import type { Event } from 'riata/kinds';
import { printer, texts, wide } from './table-printer.js';

/** An Event under the names that `events.k8s.io` has for the same things. */
interface NewEvent {
  readonly note?: string;
  readonly regarding?: Event['involvedObject'];
  readonly deprecatedSource?: Event['source'];
  readonly deprecatedFirstTimestamp?: string;
  readonly deprecatedLastTimestamp?: string;
  readonly deprecatedCount?: number;
}

/** Events, of both groups. */
export const eventTable = printer<Event & NewEvent>(
  [
    ...texts('Last Seen', 'Type', 'Reason', 'Object'),
    ...wide('Subobject', 'Source'),
    ...texts('Message'),
    ...wide('First Seen', 'Count'),
    { name: 'Name', format: 'name', priority: 1 },
  ],
  (event, ages) => {
    const { series, reportingComponent = '', reportingInstance = '' } = event;
    const object = event.involvedObject ?? event.regarding ?? {};
    const { component, host } = event.source ?? event.deprecatedSource ?? {};
    const first = event.firstTimestamp ?? event.deprecatedFirstTimestamp ?? event.eventTime;
    const last = event.lastTimestamp ?? event.deprecatedLastTimestamp ?? first;
    const kind = (object.kind ?? '').toLowerCase();
    const instance = host || reportingInstance;
    return [
      ages.since(series ? series.lastObservedTime : last),
      event.type ?? '',
      event.reason ?? '',
      object.name ? `${kind}/${object.name}` : kind,
      object.fieldPath ?? '',
      `${component || reportingComponent}${instance ? `, ${instance}` : ''}`,
      (event.message ?? event.note ?? '').trim(),
      ages.since(first),
      series ? (series.count ?? 0) : event.count || event.deprecatedCount || 1,
      event.metadata.name,
    ];
  },
);

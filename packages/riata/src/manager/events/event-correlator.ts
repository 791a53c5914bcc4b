import { Event } from '../../kinds/generated/groups/core/v1.js';
import { formatTime } from '../../object/time.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { type AggregationLimits, EventAggregator } from './event-aggregator.js';
import { type EventNames, type EventNotice, namespaceOf } from './event-notice.js';
import { EventSpamFilter, type SpamLimits } from './event-spam-filter.js';
import type { EventWrite } from './event-write.js';
import { LruMap } from './lru-map.js';

/** Which events are combined, and how many are let through (`record.CorrelatorOptions`). */
export interface CorrelatorOptions extends SpamLimits, AggregationLimits {
  /** Objects and events to remember, to recognise repetitions (`LRUCacheSize`). @default 4096 */
  readonly remembered?: number;
}

export const correlatorOptionNames = optionNames<CorrelatorOptions>({
  remembered: true,
  maxEvents: true,
  maxIntervalMs: true,
  burst: true,
  qps: true,
});

interface Observed {
  readonly name: string;
  readonly firstTimestamp: string;
  readonly count: number;
}

/**
 * Turns recorded events into as few Events of core/v1 as possible (`record.EventCorrelator`): repetitions are counted,
 * events that differ only in the message are combined, and a component that reports too much about an object is
 * throttled.
 */
export class EventCorrelator {
  readonly #names: EventNames;
  readonly #spam: EventSpamFilter;
  readonly #aggregator: EventAggregator;
  readonly #observed: LruMap<Observed>;

  constructor(clock: Scheduler, names: EventNames, options: CorrelatorOptions = {}) {
    refuseUnknownOptions('EventBroadcaster: correlator', options, correlatorOptionNames);
    const { remembered = 4096 } = options;
    this.#names = names;
    this.#spam = new EventSpamFilter(clock, remembered, options);
    this.#aggregator = new EventAggregator(clock, remembered, options);
    this.#observed = new LruMap(remembered);
  }

  /** The Event to write; undefined if there is nothing to write. Throttled events are counted all the same. */
  correlate(given: EventNotice): EventWrite | undefined {
    const { notice, key } = this.#aggregator.aggregate(given);
    const known = this.#observed.get(key);
    const lastTimestamp = formatTime(notice.atMs);
    const now: Observed = known
      ? { ...known, count: known.count + 1 }
      : { name: this.#names.nameFor(notice), firstTimestamp: lastTimestamp, count: 1 };
    this.#observed.set(key, now);
    if (this.#spam.isSpam(notice)) return undefined;
    const { count } = now;
    return {
      kind: Event,
      key: { namespace: namespaceOf(notice), name: now.name },
      object: coreEvent(notice, now),
      ...(known && { change: { count, lastTimestamp, message: notice.message } }),
    };
  }
}

function coreEvent(notice: EventNotice, { name, firstTimestamp, count }: Observed) {
  const { type, reason, message, action, annotations, regarding, related, component, instance, atMs } = notice;
  return Event({
    metadata: { namespace: namespaceOf(notice), name, ...(annotations && { annotations }) },
    ...{ involvedObject: regarding, type, reason, message, count, firstTimestamp, lastTimestamp: formatTime(atMs) },
    ...(action && { action }),
    ...(related && { related }),
    source: { component, host: instance },
    reportingComponent: component,
    reportingInstance: instance,
  });
}

import type { Clock } from '../../runtime/time/clock.js';
import type { EventNotice } from './event-notice.js';
import { LruMap } from './lru-map.js';

/** From when on events that differ in their message alone become one. */
export interface AggregationLimits {
  /** Different messages; the one that makes it this many is the first to be combined. @default 10 */
  readonly maxEvents?: number;
  /** A pause this long ends it. @default 600_000, ten minutes */
  readonly maxIntervalMs?: number;
}

interface Group {
  readonly messages: Set<string>;
  lastMs: number;
}

/** A notice, and the key by which it is the same as others. */
export interface Aggregated {
  readonly notice: EventNotice;
  readonly key: string;
}

/** Makes one event of many that say nearly the same (`record.EventAggregator`, by reason). */
export class EventAggregator {
  readonly #clock: Clock;
  readonly #maxEvents: number;
  readonly #maxIntervalMs: number;
  readonly #groups: LruMap<Group>;

  constructor(clock: Clock, remembered: number, { maxEvents = 10, maxIntervalMs = 600_000 }: AggregationLimits = {}) {
    this.#clock = clock;
    this.#maxEvents = maxEvents;
    this.#maxIntervalMs = maxIntervalMs;
    this.#groups = new LruMap(remembered);
  }

  aggregate(notice: EventNotice): Aggregated {
    const { component, instance, regarding, type, reason, message } = notice;
    const { apiVersion, kind, namespace, name, uid, fieldPath } = regarding;
    const groupKey = JSON.stringify([component, instance, apiVersion, kind, namespace, name, uid, type, reason]);
    const nowMs = this.#clock.monotonic();
    let group = this.#groups.get(groupKey);
    if (group === undefined || nowMs - group.lastMs > this.#maxIntervalMs) {
      group = { messages: new Set(), lastMs: nowMs };
      this.#groups.set(groupKey, group);
    }
    group.messages.add(message);
    group.lastMs = nowMs;
    if (group.messages.size < this.#maxEvents)
      return { notice, key: `${groupKey}${JSON.stringify([message, fieldPath])}` };
    // One place stays free, so that a further message keeps the group full instead of making it grow.
    const [oldest] = group.messages;
    group.messages.delete(oldest as string);
    return { notice: { ...notice, message: `(combined from similar events): ${message}` }, key: groupKey };
  }
}

import { Event } from '../../kinds/generated/groups/events.k8s.io/v1.js';
import { formatMicroTime } from '../../object/time.js';
import { type EventNames, type EventNotice, namespaceOf } from './event-notice.js';
import type { EventWrite } from './event-write.js';
import { LruMap } from './lru-map.js';

/** How long series are kept. */
export interface SeriesOptions {
  /** Nothing for this long ends a series (`finishTime`). @default 360_000, six minutes */
  readonly finishMs?: number;
  /** Events to remember, to recognise repetitions. @default 4096 */
  readonly remembered?: number;
}

interface Series {
  readonly name: string;
  readonly first: EventNotice;
  count: number;
  lastMs: number;
  /** What was last written to the server. */
  written: number;
}

/** As the server has it: in bytes. */
const longestNote = 1024;

/**
 * Turns recorded events into Events of events.k8s.io/v1: the first of its kind is written at once, the second starts a
 * series, and of the rest only the count is written, now and then (`events.EventBroadcaster`). Two are of one kind if
 * they differ in nothing but the message.
 */
export class EventSeriesKeeper {
  readonly #names: EventNames;
  readonly #finishMs: number;
  readonly #known: LruMap<Series>;

  constructor(names: EventNames, { finishMs = 360_000, remembered = 4096 }: SeriesOptions = {}) {
    this.#names = names;
    this.#finishMs = finishMs;
    this.#known = new LruMap(remembered);
  }

  /** The write to do now. */
  observe(notice: EventNotice): EventWrite[] {
    const { component, instance, type, reason, action, regarding, related } = notice;
    const key = JSON.stringify([component, instance, type, reason, action, identity(regarding), identity(related)]);
    const known = this.#known.get(key);
    if (known !== undefined) {
      known.count += 1;
      known.lastMs = notice.atMs;
      return known.count === 2 ? [this.#write(known)] : [];
    }
    const made: Series = {
      name: this.#names.nameFor(notice),
      first: notice,
      count: 1,
      lastMs: notice.atMs,
      written: 0,
    };
    const forgotten = this.#known.set(key, made);
    return [...(isBehind(forgotten) ? [this.#write(forgotten)] : []), this.#write(made)];
  }

  /** Writes running series again, so that the server, which deletes events after a while, keeps them. */
  refresh(): EventWrite[] {
    return this.#known.entries().flatMap(([, series]) => (series.count > 1 ? [this.#write(series)] : []));
  }

  /** Ends series that have been quiet for a while, with their last count. */
  finish(nowMs: number): EventWrite[] {
    const writes: EventWrite[] = [];
    for (const [key, series] of this.#known.entries()) {
      if (nowMs - series.lastMs < this.#finishMs) continue;
      this.#known.delete(key);
      if (isBehind(series)) writes.push(this.#write(series));
    }
    return writes;
  }

  /** What the server does not know yet. */
  flush(): EventWrite[] {
    return this.#known.entries().flatMap(([, series]) => (isBehind(series) ? [this.#write(series)] : []));
  }

  #write(series: Series): EventWrite {
    const { name, first, count, lastMs, written } = series;
    series.written = count;
    const reported = count > 1 ? { count, lastObservedTime: formatMicroTime(lastMs) } : undefined;
    return {
      kind: Event,
      key: { namespace: namespaceOf(first), name },
      object: seriesEvent(first, name, reported),
      ...(written > 0 && reported && { change: { series: reported } }),
    };
  }
}

function seriesEvent(
  notice: EventNotice,
  name: string,
  series: { readonly count: number; readonly lastObservedTime: string } | undefined,
) {
  const { type, reason, message, action, annotations, regarding, related, component, instance, atMs } = notice;
  return Event({
    metadata: { namespace: namespaceOf(notice), name, ...(annotations && { annotations }) },
    eventTime: formatMicroTime(atMs),
    ...(series && { series }),
    ...{ regarding, type, reason, action: action || reason, note: shortened(message) },
    ...(related && { related }),
    reportingController: component,
    reportingInstance: instance,
  });
}

function isBehind(series: Series | undefined): series is Series {
  return series !== undefined && series.written < series.count;
}

/** An object stays the same when it changes. */
function identity(reference: EventNotice['related']): unknown {
  if (reference === undefined) return null;
  const { apiVersion, kind, namespace, name, uid, fieldPath } = reference;
  return [apiVersion, kind, namespace, name, uid, fieldPath];
}

function shortened(message: string): string {
  const bytes = new TextEncoder().encode(message);
  if (bytes.length <= longestNote) return message;
  // Three bytes for the ellipsis, and up to three for a character that would be cut in two.
  const cut = new TextDecoder().decode(bytes.subarray(0, longestNote - 6)).replace(/\uFFFD+$/, '');
  return `${cut}…`;
}

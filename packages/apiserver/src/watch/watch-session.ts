import type { Buffer } from 'node:buffer';
import type { JsonObject } from 'riata/object';
import type { Logger, Random, Scheduler, Timer } from 'riata/runtime';
import { type Choice, matcherOf } from '../resource/list-objects.js';
import type { Resource } from '../resource/resource.js';
import { expired } from '../status/refusal.js';
import { CompactedError, type Storage, type StorageEvent, type Stored } from '../storage/storage.js';
import { ConversionQueue } from './conversion-queue.js';
import { bookmark, type EventEncoder, type EventForm, type EventType, line } from './event-encoder.js';

/** Where the events of a watch go. */
export interface WatchSink {
  /** False when the peer has not read what was written before; `drained` then resolves when to continue. */
  write(bytes: Uint8Array): boolean;
  drained(): Promise<void>;
  end(): void;
}

/** The parameters of a watch. */
export interface WatchRequest extends Choice {
  readonly resourceVersion?: string;
  readonly sendInitialEvents?: boolean;
  readonly allowWatchBookmarks?: boolean;
  readonly timeoutSeconds?: number;
  readonly form: EventForm;
}

/** The surroundings of a watch. */
export interface WatchParts {
  readonly storage: Storage;
  readonly encoder: EventEncoder;
  readonly clock: Scheduler;
  readonly random: Random;
  readonly log: Logger;
  /** Watches cannot begin before this revision, even if the storage remembers more. @default 0 */
  readonly oldest?: number;
}

/** A watcher that is further behind than this is ended: it lists again, and the memory is not its buffer. */
const maxPending = 10_000;
const bookmarkEveryMs = 60_000;
const lastBookmarkMs = 2_000;
const defaultTimeoutMs = 1_800_000;
/** Between two looks at the rest of the world. */
const sliceEvents = 200;

type Pending = { readonly make: () => Buffer } | { readonly type: EventType; readonly stored: Stored };

/** One watch, from its first event to its end. */
export class WatchSession {
  readonly #parts: WatchParts;
  readonly #encoder: EventEncoder;
  readonly #resource: Resource;
  readonly #request: WatchRequest;
  readonly #sink: WatchSink;
  readonly #sees: (stored: Stored) => boolean;
  readonly #form: EventForm;
  readonly #timers = new Set<Timer>();
  /** Holds back what a webhook has yet to convert; undefined where none does. */
  readonly #conversions: ConversionQueue | undefined;
  #subscription: Disposable | undefined;
  /** The state at the start, or the past since then; it goes out before what follows and is no sign of being behind. */
  #state: Pending[] = [];
  /** How much of the state has been sent: taking from the front of a long array is slow. */
  #stateAt = 0;
  #pending: Pending[] = [];
  #replaying = false;
  #pumping = false;
  /** Whether it ends as soon as nothing waits. */
  #closing = false;
  #ended = false;

  constructor(parts: WatchParts, resource: Resource, request: WatchRequest, sink: WatchSink) {
    this.#parts = parts;
    this.#encoder = parts.encoder;
    this.#resource = resource;
    this.#request = request;
    this.#sink = sink;
    this.#sees = matcherOf(resource, request);
    // Of one shape for all watches, as each of many looks at its own with every event.
    const { id, apiVersion, content, project, write } = request.form;
    this.#form = { id, apiVersion, content, project, write };
    this.#conversions = resource.conversions && new ConversionQueue(resource.conversions, (e) => this.#unconverted(e));
  }

  /** Where the objects live that it watches. */
  get table(): string {
    return this.#resource.table;
  }

  /** Begins. The answer's head must have been sent. */
  start(): void {
    const { random, storage, oldest = 0 } = this.#parts;
    const { timeoutSeconds, allowWatchBookmarks, sendInitialEvents, resourceVersion = '' } = this.#request;
    const timeoutMs = timeoutSeconds ? timeoutSeconds * 1000 : defaultTimeoutMs * (1 + random.next());
    this.#after(timeoutMs, () => this.#finish());
    const fromState = resourceVersion === '' || resourceVersion === '0' || sendInitialEvents === true;
    const start = fromState ? storage.revision : Number(resourceVersion);
    if (fromState && sendInitialEvents !== false) this.#queueState(start, sendInitialEvents === true);
    if (fromState) this.#holdUntilDurable(start);
    try {
      if (start < oldest) throw new CompactedError(start, oldest);
      this.#replaying = true;
      this.#subscription = storage.watch(this.#resource.table, start, (event) => this.#hear(event));
      this.#replaying = false;
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error;
      const refusal = expired(`too old resource version: ${resourceVersion} (${error.oldest})`);
      this.#queue({ make: () => (this.#form.write ?? line)('ERROR', refusal.status as unknown as JsonObject) });
      this.end();
      return;
    }
    if (allowWatchBookmarks) {
      this.#bookmarkLater();
      // One shortly before the end, so that the next watch resumes from there.
      if (timeoutMs > lastBookmarkMs) this.#after(timeoutMs - lastBookmarkMs, () => this.#sendBookmark());
    }
    this.#pump();
  }

  /** Ends the watch from outside: the client has disconnected, or the server stops. */
  stop(): void {
    this.#finish();
  }

  /** Ends the watch when everything that has happened so far is sent: its resource no longer exists. */
  end(): void {
    const { storage } = this.#parts;
    const durable = storage.durable(storage.revision);
    if (durable === undefined) this.#close();
    else
      durable.then(
        () => this.#close(),
        () => this.#finish(),
      );
  }

  #close(): void {
    this.#subscription?.[Symbol.dispose]();
    this.#inOrder(() => {
      this.#closing = true;
      this.#pump();
    });
  }

  /** Keeps the state at the start back until it is durable. The events after it are so when they come. */
  #holdUntilDurable(revision: number): void {
    const durable = this.#parts.storage.durable(revision);
    if (durable === undefined) return;
    this.#pumping = true;
    durable.then(
      () => this.#pumped(),
      () => this.#finish(),
    );
  }

  #queueState(revision: number, closes: boolean): void {
    const { storage } = this.#parts;
    const prefix = this.#request.namespace === '' ? '' : `${this.#request.namespace}/`;
    const queue = (items: readonly Stored[]) => {
      this.#state = items.map((stored) => ({ type: 'ADDED', stored }));
      if (closes && this.#request.allowWatchBookmarks) {
        this.#state.push({ make: () => this.#bookmark(revision, true) });
      }
    };
    const { table } = this.#resource;
    if (this.#conversions === undefined) {
      queue(storage.list(table, { prefix, filter: this.#sees }).items);
      return;
    }
    const { items } = storage.list(table, { prefix });
    this.#conversions.add(
      items.map(({ object }) => object),
      () => {
        queue(items.filter(this.#sees));
        this.#pump();
      },
    );
  }

  #hear(event: StorageEvent): void {
    if (this.#conversions === undefined) {
      this.#take(event);
      return;
    }
    const { before, after, removed } = event;
    const gone = removed ?? (before && this.#encoder.lastSeen(event, before));
    const objects = [before, after, gone].flatMap((stored) => stored?.object ?? []);
    this.#conversions.add(objects, () => this.#take(event));
    if (this.#conversions.length > maxPending) this.#finish();
  }

  /** Does something after all that has been heard of. */
  #inOrder(run: () => void): void {
    if (this.#conversions === undefined) run();
    else this.#conversions.add([], run);
  }

  /** As on the real server, whose watch cache ends all watches when it cannot follow any more. */
  #unconverted(error: unknown): void {
    if (this.#ended) return;
    this.#parts.log.warn('watch ended, conversion failed', { error, table: this.table });
    this.#finish();
  }

  #take(event: StorageEvent): void {
    const { before, after, removed } = event;
    const saw = before !== undefined && this.#sees(before);
    const sees = after !== undefined && this.#sees(after);
    if (sees) this.#send(saw ? 'MODIFIED' : 'ADDED', after);
    else if (saw) this.#send('DELETED', removed ?? this.#encoder.lastSeen(event, before));
  }

  /** Mostly nothing is pending, and there are many watchers: then the event is written at once. */
  #send(type: EventType, stored: Stored): void {
    if (this.#pumping || this.#replaying || this.#state.length + this.#pending.length > 0) {
      this.#queue({ type, stored });
      this.#pump();
      return;
    }
    if (this.#ended) return;
    const bytes = this.#encode(type, stored);
    if (bytes === undefined || this.#sink.write(bytes)) return;
    this.#pumping = true;
    void this.#writeRest().finally(() => this.#pumped());
  }

  #queue(pending: Pending): void {
    if (this.#ended) return;
    if (this.#replaying) {
      this.#state.push(pending);
      return;
    }
    this.#pending.push(pending);
    if (this.#isTooFarBehind()) this.#finish();
  }

  /** Pending events are no more than the history holds anyway, so that a slow reader costs no extra memory. */
  #isTooFarBehind(): boolean {
    const [oldest] = this.#pending;
    if (oldest !== undefined && 'stored' in oldest && oldest.stored.revision <= this.#parts.storage.compacted) {
      return true;
    }
    return this.#pending.length > maxPending;
  }

  /** Writes what waits, as fast as the peer takes it: mostly that is one event, and at once. */
  #pump(): void {
    if (this.#pumping || this.#ended) return;
    this.#pumping = true;
    if (this.#writeSome()) this.#pumped();
    else void this.#writeRest().finally(() => this.#pumped());
  }

  #pumped(): void {
    this.#pumping = false;
    // The events since the last check.
    if (this.#state.length + this.#pending.length > 0) this.#pump();
    else if (this.#closing) this.#finish();
  }

  async #writeRest(): Promise<void> {
    do {
      await this.#sink.drained();
      if (this.#state.length + this.#pending.length > 0) await this.#parts.clock.yield();
    } while (!this.#ended && !this.#writeSome());
  }

  /** An event that cannot be encoded ends the watch; it must fail neither the process nor the write. */
  #encode(type: EventType, stored: Stored): Buffer | undefined {
    try {
      return this.#encoder.event(type, stored, this.#form);
    } catch (error) {
      const { key, revision } = stored;
      this.#parts.log.error('An event that could not be written has ended a watch', {
        error,
        key,
        revision,
        table: this.table,
      });
      this.#finish();
      return undefined;
    }
  }

  /** False when the peer does not keep up, or when it is time to let others go on. */
  #writeSome(): boolean {
    for (let written = 0; written < sliceEvents; written++) {
      const next = this.#next();
      if (next === undefined) return true;
      const bytes = 'make' in next ? next.make() : this.#encode(next.type, next.stored);
      if (bytes !== undefined && !this.#sink.write(bytes)) return false;
    }
    return false;
  }

  #next(): Pending | undefined {
    if (this.#state.length === 0) return this.#pending.shift();
    const next = this.#state[this.#stateAt];
    this.#stateAt += 1;
    if (this.#stateAt === this.#state.length) [this.#state, this.#stateAt] = [[], 0];
    return next;
  }

  #bookmarkLater(): void {
    const { random } = this.#parts;
    this.#after(random.jitter(bookmarkEveryMs, 0.25), () => {
      this.#sendBookmark();
      this.#bookmarkLater();
    });
  }

  #sendBookmark(): void {
    const { durableRevision: revision } = this.#parts.storage;
    this.#inOrder(() => {
      this.#queue({ make: () => this.#bookmark(revision, false) });
      this.#pump();
    });
  }

  #bookmark(revision: number, initialEventsEnd: boolean): Buffer {
    return bookmark(this.#resource, this.#form, revision, initialEventsEnd);
  }

  #after(ms: number, fn: () => void): void {
    const timer = this.#parts.clock.after(
      ms,
      () => {
        this.#timers.delete(timer);
        fn();
      },
      { background: true },
    );
    this.#timers.add(timer);
  }

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#subscription?.[Symbol.dispose]();
    for (const timer of this.#timers) timer.cancel();
    this.#conversions?.clear();
    this.#state = [];
    this.#pending = [];
    this.#sink.end();
  }
}

import type { KubeObject } from 'riata/object';
import { type Scheduler, TimeSlice } from 'riata/runtime';
import { MemoryStorage } from '../memory-storage.js';
import type { ListPage, ListRange, Storage, StorageEvent, StorageSnapshot, Stored } from '../storage.js';
import { DataDirectoryError, ioProblem } from './data-directory-error.js';
import type { JournalContent, JournalRecord } from './journal.js';
import { encodeRecord } from './record.js';

/** The store that a {@link DurableStorage} writes to. */
export interface RecordStore {
  /** The newest revision that is durable. */
  readonly revision: number;
  /** Stores records atomically; resolves when they are durable. */
  append(records: readonly JournalRecord[], compacted: number): Promise<void>;
  /** Deletes versions that can no longer be read. */
  prune(revisions: readonly number[], compacted: number): Promise<void>;
  /** Makes the store usable again after {@link append} failed. */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

/** Dependencies of a {@link DurableStorage}. */
export interface DurableStorageParts {
  readonly records: RecordStore;
  readonly content: Pick<JournalContent, 'versions' | 'revision' | 'compacted'>;
  /** How errors name the store, e.g. its path. */
  readonly name: string;
  /** The clock by which history expires. */
  readonly clock: Scheduler;
  /** Times retries and slices. Real time, even if the server's clock is virtual. */
  readonly realTime: Scheduler;
}

/** A write that is not yet durable, or not yet delivered to watches. */
interface PendingWrite extends JournalRecord {
  readonly resource: string;
  readonly event: StorageEvent;
}

interface Watcher {
  readonly listener: (event: StorageEvent) => void;
  /** Everything up to this revision was delivered. */
  delivered: number;
}

/** A version that can no longer be read once a compaction has passed the write that replaced it. */
interface Replaced {
  readonly revision: number;
  readonly by: number;
}

/** Limits the text in one transaction, so that the first of many writes does not wait for the last. */
const batchCharacters = 4 * 1024 * 1024;
const retryMs = 1_000;

/**
 * Keeps objects in memory for reads and writes every version to a store. Many writes share one fsync: those that arrive
 * while one runs are stored together by the next. Writes become durable in the order of their revisions, so a crash
 * always leaves a state that the server once was in.
 */
export class DurableStorage implements Storage {
  readonly #parts: DurableStorageParts;
  readonly #memory: MemoryStorage;
  readonly #watchers = new Map<string, Set<Watcher>>();
  readonly #waiting: { readonly revision: number; resolve(): void; reject(error: Error): void }[] = [];
  readonly #closing = new AbortController();
  #pending: PendingWrite[] = [];
  #replaced: Replaced[] = [];
  #durable: number;
  #delivered: number;
  #problem: Error | undefined;
  #isWriting = false;
  #writing: Promise<void> = Promise.resolve();
  /** Durable writes that are yet to be delivered to watches. */
  #undelivered: PendingWrite[] = [];
  #delivering = false;

  constructor(parts: DurableStorageParts) {
    const { clock, content } = parts;
    this.#parts = parts;
    this.#memory = new MemoryStorage({ clock });
    if (content.revision > 0) this.#memory.restore(content.versions, content.revision, content.compacted);
    this.#durable = content.revision;
    this.#delivered = content.revision;
    this.#replaced = replacedIn(content.versions);
    // Must be the first observer: other observers write in turn, and those writes must come after this one.
    this.#memory.observe((resource, event) => this.#append(resource, event));
  }

  get revision(): number {
    return this.#memory.revision;
  }

  get compacted(): number {
    return this.#memory.compacted;
  }

  get durableRevision(): number {
    return this.#delivered;
  }

  get problem(): Error | undefined {
    return this.#problem;
  }

  get(resource: string, key: string): Stored | undefined {
    return this.#memory.get(resource, key);
  }

  list(resource: string, range?: ListRange): ListPage {
    return this.#memory.list(resource, range);
  }

  count(resource: string): number {
    return this.#memory.count(resource);
  }

  put(resource: string, key: string, make: (revision: number) => KubeObject): Stored {
    return this.#memory.put(resource, key, make);
  }

  remove(resource: string, key: string, make: (revision: number) => KubeObject): Stored {
    return this.#memory.remove(resource, key, make);
  }

  observe(listener: (resource: string, event: StorageEvent) => void): Disposable {
    return this.#memory.observe(listener);
  }

  compact(revision: number): void {
    this.#memory.compact(revision);
    this.#write();
  }

  snapshot(): StorageSnapshot {
    return this.#memory.snapshot();
  }

  watch(resource: string, from: number, listener: (event: StorageEvent) => void): Disposable {
    const watcher = { listener, delivered: from };
    const past: StorageEvent[] = [];
    this.#memory.watch(resource, from, (event) => past.push(event))[Symbol.dispose]();
    const watchers = this.#watchers.get(resource) ?? new Set();
    this.#watchers.set(resource, watchers.add(watcher));
    for (const event of past) if (event.revision <= this.#delivered) deliver(watcher, event);
    return { [Symbol.dispose]: () => void watchers.delete(watcher) };
  }

  durable(revision: number): Promise<void> | undefined {
    if (revision <= this.#delivered) return undefined;
    if (this.#problem !== undefined) return Promise.reject(this.#problem);
    return new Promise((resolve, reject) => this.#waiting.push({ revision, resolve, reject }));
  }

  /** Stores pending writes, then accepts no more. Throws if they could not be stored. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writing;
    await this.#parts.records.close();
    if (this.#pending.length > 0 && this.#problem !== undefined) throw this.#problem;
  }

  #append(resource: string, event: StorageEvent): void {
    const { revision, key, before, after } = event;
    const text = encodeRecord(resource, key, revision, after?.object);
    this.#pending.push({ resource, event, revision, text });
    if (before !== undefined) this.#replaced.push({ revision: before.revision, by: revision });
    if (after === undefined) this.#replaced.push({ revision, by: revision });
    this.#write();
  }

  #write(): void {
    if (this.#isWriting) return;
    this.#isWriting = true;
    this.#writing = this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    // All writes of one turn of the event loop form one transaction, above all the objects of a new server.
    await this.#parts.realTime.yield();
    do {
      if (this.#pending.length > 0 && !(await this.#writeSome())) return;
      // After each transaction: under load there is always another one waiting.
      await this.#prune();
    } while (this.#pending.length > 0);
    // In the same turn as the last check, so that a later write starts a new run.
    this.#isWriting = false;
  }

  /** Stores one transaction, with retries. Returns false if the server stops meanwhile. */
  async #writeSome(): Promise<boolean> {
    const batch = this.#pending.slice(0, batchLength(this.#pending));
    try {
      await this.#parts.records.append(batch, this.#memory.compacted);
    } catch (error) {
      this.#fail(error);
      return this.#recover();
    }
    this.#problem = undefined;
    this.#written(batch.at(-1)!.revision);
    return true;
  }

  #written(revision: number): void {
    this.#durable = revision;
    const count = this.#pending.findIndex((write) => write.revision > revision);
    this.#undelivered.push(...this.#pending.splice(0, count < 0 ? this.#pending.length : count));
    if (!this.#delivering) void this.#deliverAll();
  }

  /** Works in slices: there may be thousands of watches and hundreds of writes in a transaction. */
  async #deliverAll(): Promise<void> {
    this.#delivering = true;
    const slice = TimeSlice.of(this.#parts.realTime);
    while (this.#undelivered.length > 0) {
      const writes = this.#undelivered;
      this.#undelivered = [];
      let entered = slice.enter();
      for (const { resource, event } of writes) {
        if (slice.isOver(entered)) {
          slice.leave(entered);
          await slice.wait();
          entered = slice.enter();
        }
        this.#delivered = event.revision;
        for (const watcher of this.#watchers.get(resource) ?? []) deliver(watcher, event);
        while (this.#waiting.length > 0 && this.#waiting[0]!.revision <= this.#delivered)
          this.#waiting.shift()!.resolve();
      }
      slice.leave(entered);
    }
    this.#delivering = false;
  }

  #fail(error: unknown): void {
    const cause = ioProblem(error);
    const message = `data directory ${this.#parts.name}: cannot write: ${cause}; writes are accepted again once that is fixed`;
    this.#problem = new DataDirectoryError(message, { cause: error });
    for (const { reject } of this.#waiting.splice(0)) reject(this.#problem);
  }

  /** Retries until the store accepts writes. Returns false if the server stops meanwhile. */
  async #recover(): Promise<boolean> {
    const { realTime, records } = this.#parts;
    const { signal } = this.#closing;
    for (;;) {
      if (signal.aborted) return false;
      await realTime.sleep(retryMs, { signal, background: true }).catch(() => {});
      try {
        await records.reopen();
      } catch (error) {
        this.#fail(error);
        continue;
      }
      // A transaction may be on the disk although its fsync has failed.
      if (records.revision > this.#durable) this.#written(records.revision);
      if (this.#pending.length === 0) this.#problem = undefined;
      return true;
    }
  }

  /** Deletes the versions that compaction dropped. */
  async #prune(): Promise<void> {
    const { compacted } = this.#memory;
    const count = this.#replaced.findIndex(({ by }) => by > compacted);
    const old = this.#replaced.splice(0, count < 0 ? this.#replaced.length : count);
    if (old.length === 0) return;
    try {
      await this.#parts.records.prune(
        old.map(({ revision }) => revision),
        compacted,
      );
    } catch {
      // The next start finds and deletes them again; the next write reports the problem.
    }
  }
}

function deliver(watcher: Watcher, event: StorageEvent): void {
  if (event.revision <= watcher.delivered) return;
  watcher.delivered = event.revision;
  watcher.listener(event);
}

/** Returns how many of the pending writes, from the first on, fit into one transaction. */
function batchLength(writes: readonly PendingWrite[]): number {
  let characters = 0;
  const over = writes.findIndex(({ text }) => {
    characters += text.length;
    return characters > batchCharacters;
  });
  return over < 0 ? writes.length : Math.max(over, 1);
}

/** Finds replaced versions, in the order of the writes that replaced them. */
function replacedIn(versions: JournalContent['versions']): Replaced[] {
  const newest = new Map<string, number>();
  const replaced: Replaced[] = [];
  for (const { resource, key, revision, stored } of versions) {
    const id = `${resource} ${key}`;
    const before = newest.get(id);
    if (before !== undefined) replaced.push({ revision: before, by: revision });
    if (stored === undefined) {
      replaced.push({ revision, by: revision });
      newest.delete(id);
    } else newest.set(id, revision);
  }
  return replaced;
}

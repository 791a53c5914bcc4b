import type { RetryingWatchEvent } from 'riata/client';
import type { KubeObject } from 'riata/object';

/** Objects that are gone are remembered so far back. */
const longestMemory = 10_000;

/** The state of a watcher, and the impossible events that it got. */
export class WatchedView {
  readonly problems: string[] = [];
  resets = 0;
  events = 0;
  readonly #name: string;
  #versions = new Map<string, { readonly uid: string; readonly version: string }>();
  #gone = new Set<string>();

  /** `name` stands in front of every problem. */
  constructor(name: string) {
    this.#name = name;
  }

  async follow(watch: AsyncIterable<RetryingWatchEvent<KubeObject>>): Promise<void> {
    for await (const event of watch) this.#take(event);
  }

  /** The versions known, by name, in the order of names. */
  sorted(): Record<string, string> {
    return sortedByKey(Object.fromEntries([...this.#versions].map(([name, { version }]) => [name, version])));
  }

  #take(event: RetryingWatchEvent<KubeObject>): void {
    if (event.type === 'RESET') {
      this.resets++;
      this.#versions = new Map();
      this.#gone = new Set();
    }
    if (event.type === 'RESET' || event.type === 'SYNCED' || event.type === 'BOOKMARK') return;
    this.events++;
    const { name, uid, resourceVersion } = event.object.metadata;
    const known = this.#versions.get(name);
    const complain = (what: string) => this.problems.push(`${this.#name}: ${event.type} ${name}: ${what}`);
    if (this.#gone.has(uid)) complain('told after it was deleted');
    if (known?.uid === uid && Number(known.version) >= Number(resourceVersion)) complain('not newer than before');
    if (event.type === 'MODIFIED' && known?.uid !== uid) complain('changed before it was added');
    if (event.type === 'DELETED') this.#forget(name, uid);
    else this.#versions.set(name, { uid, version: resourceVersion });
  }

  #forget(name: string, uid: string): void {
    this.#versions.delete(name);
    this.#gone.add(uid);
    const [oldest] = this.#gone;
    if (this.#gone.size > longestMemory && oldest !== undefined) this.#gone.delete(oldest);
  }
}

export function sortedByKey(record: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

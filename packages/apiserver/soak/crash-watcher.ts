import { crashPath, stateOf, type WrittenState } from './crash-state.js';
import type { Acknowledged } from './crash-writer.js';
import type { ServerProcess } from './server-program.js';

interface WatchLine {
  readonly type: string;
  readonly object: unknown;
}

/** Watches, and goes on where it was after a crash, as informers do: from its last revision, or from a new list after 410. */
export class CrashWatcher {
  events = 0;
  /** How often it could go on, and how often it had to list again. */
  resumed = 0;
  expired = 0;
  /** The newest revision that it was told. */
  newest = 0;
  /** What it believes. */
  #state = new Map<string, WrittenState>();
  /** Where it began without a gap: after its last list. */
  #from = 0;
  readonly #seen = new Set<number>();

  async run(server: ServerProcess, signal: AbortSignal, onReady: () => void = () => {}): Promise<void> {
    try {
      if (this.newest === 0) await this.#list(server);
      while (!signal.aborted) {
        if (await this.#watch(server, signal, onReady)) return;
        this.expired += 1;
        await this.#list(server);
      }
    } catch (error) {
      // The connection is gone with the server.
      if (!(error instanceof TypeError) && !signal.aborted) throw error;
    }
  }

  /** All that it was shown must still be so, or have been replaced by something newer. */
  check(found: ReadonlyMap<string, WrittenState>): void {
    for (const [name, state] of this.#state) {
      const is = found.get(name);
      if (is === undefined || is.revision > state.revision) continue;
      if (is.revision === state.revision && is.value === state.value) continue;
      throw new Error(`${name} is at revision ${is.revision}, but a watch has shown ${state.revision}`);
    }
  }

  /** It must have been told of every write between its list and the newest that it was told of. */
  checkGaps(acknowledged: readonly Acknowledged[]): void {
    for (const { revision, name } of acknowledged) {
      if (revision <= this.#from || revision > this.newest || this.#seen.has(revision)) continue;
      throw new Error(`a watch from ${this.#from} to ${this.newest} was not told of ${name} at revision ${revision}`);
    }
  }

  async #list(server: ServerProcess): Promise<void> {
    const list = (await (await server.request('GET', crashPath)).json()) as {
      readonly metadata: { readonly resourceVersion: string };
      readonly items: readonly unknown[];
    };
    this.#state = new Map(list.items.map((item) => stateOf(item)));
    this.#from = Number(list.metadata.resourceVersion);
    if (this.#from < this.newest)
      throw new Error(`a list is of revision ${this.#from}, ${this.newest} was shown before`);
    this.newest = this.#from;
  }

  /** False when it has to list again. */
  async #watch(server: ServerProcess, signal: AbortSignal, onReady: () => void): Promise<boolean> {
    const response = await server.request('GET', `${crashPath}?watch=1&resourceVersion=${this.newest}`);
    onReady();
    let [rest, first] = ['', true];
    const decoder = new TextDecoder();
    for await (const part of response.body ?? []) {
      const lines = (rest + decoder.decode(part as Uint8Array, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const event = JSON.parse(line) as WatchLine;
        if (event.type === 'ERROR') return false;
        if (first) this.resumed += 1;
        first = false;
        this.#take(event);
      }
      if (signal.aborted) return true;
    }
    return true;
  }

  #take({ type, object }: WatchLine): void {
    const [name, state] = stateOf(object);
    if (state.revision <= this.newest)
      throw new Error(`an event of revision ${state.revision} came after ${this.newest}`);
    this.newest = state.revision;
    this.events += 1;
    this.#seen.add(state.revision);
    if (type === 'DELETED') this.#state.delete(name);
    else this.#state.set(name, state);
  }
}

import type { Random } from 'riata/runtime';
import { crashPath, stateOf, type WrittenState } from './crash-state.js';
import type { ServerProcess } from './server-program.js';

/** A write that the server has confirmed; the value of a removal is undefined. */
export interface Acknowledged {
  readonly name: string;
  readonly revision: number;
  readonly value: string | undefined;
}

/** Creates, changes and removes objects of its own, one after the other, and remembers what was confirmed. */
export class CrashWriter {
  readonly acknowledged: Acknowledged[] = [];
  newest = 0;
  readonly #number: number;
  readonly #random: Random;
  /** What each object is as far as it is known. */
  readonly #known = new Map<string, WrittenState>();
  /** What was sent and not answered: it may or may not have been done. */
  #open: { readonly name: string; readonly value: string | undefined } | undefined;
  #count = 0;

  constructor(number: number, random: Random) {
    this.#number = number;
    this.#random = random;
  }

  /** Writes until the server is gone, and reports every write that was confirmed. */
  async run(server: ServerProcess, signal: AbortSignal, onWrite: () => void): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#write(server);
        onWrite();
      } catch (error) {
        // The connection is gone with the server.
        if (error instanceof TypeError || signal.aborted) return;
        throw error;
      }
    }
  }

  /** Everything that was confirmed must be there, and nothing that was not sent. */
  check(found: ReadonlyMap<string, WrittenState>): void {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined && found.get(open.name)?.value === open.value) {
      const state = found.get(open.name);
      if (state === undefined) this.#known.delete(open.name);
      else this.#known.set(open.name, state);
    }
    for (let slot = 0; slot < 10; slot++) {
      const name = this.#name(slot);
      const [is, was] = [found.get(name), this.#known.get(name)];
      if (is?.value === was?.value && is?.revision === was?.revision) continue;
      throw new Error(`${name} is ${JSON.stringify(is)}, but ${JSON.stringify(was)} was confirmed`);
    }
  }

  async #write(server: ServerProcess): Promise<void> {
    const name = this.#name(Math.floor(this.#random.next() * 10));
    const known = this.#known.get(name);
    if (known !== undefined && this.#random.next() < 0.2) return this.#remove(server, name);
    this.#count += 1;
    const value = `${this.#number}-${this.#count}-${'x'.repeat(Math.floor(this.#random.next() * 2_000))}`;
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { value } };
    this.#open = { name, value };
    const [method, path] = known === undefined ? ['POST', crashPath] : ['PUT', `${crashPath}/${name}`];
    const [, state] = stateOf(await this.#answer(await server.request(method, path, object)));
    this.#confirm(name, state.revision, value);
    this.#known.set(name, state);
  }

  async #remove(server: ServerProcess, name: string): Promise<void> {
    this.#open = { name, value: undefined };
    await this.#answer(await server.request('DELETE', `${crashPath}/${name}`));
    this.#open = undefined;
    this.#known.delete(name);
  }

  #confirm(name: string, revision: number, value: string): void {
    this.#open = undefined;
    if (revision <= this.newest) throw new Error(`revision ${revision} came after ${this.newest}`);
    this.newest = revision;
    this.acknowledged.push({ name, revision, value });
  }

  async #answer(response: Response): Promise<unknown> {
    const body: unknown = await response.json();
    if (!response.ok) throw new Error(`${response.status}: ${JSON.stringify(body)}`);
    return body;
  }

  #name(slot: number): string {
    return `w${this.#number}-${slot}`;
  }
}

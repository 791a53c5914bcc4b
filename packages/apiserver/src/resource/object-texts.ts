import { getHeapStatistics } from 'node:v8';
import type { Stored } from '../storage/storage.js';
import { RecentCache } from './recent-cache.js';

/**
 * The JSON of stored versions, made once for all lists and watches that send it: the object without `apiVersion` and
 * `kind`, which depend on who asks. Texts may take an eighth of the memory that Node gives to JavaScript; what is past it
 * is made anew when it is sent.
 */
export class ObjectTexts {
  // They are strings, as many small buffers outside of the heap keep the garbage collector busy.
  readonly #bodies = new RecentCache<Stored, string>(getHeapStatistics().heap_size_limit / 8, (text) => text.length);

  body(stored: Stored): string {
    return this.#bodies.get(stored, () => {
      const { apiVersion: _a, kind: _k, ...rest } = stored.object;
      return JSON.stringify(rest);
    });
  }

  /** The whole object, under a version. */
  whole(stored: Stored, apiVersion: string): string {
    const named = `{"kind":${JSON.stringify(stored.object.kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
    // Its metadata is always there, so that the comma is right; its opening brace has come already.
    return named + this.body(stored).slice(1);
  }
}

import type { KubeObject } from 'riata/object';
import { writeJson } from '../http/body/write-json.js';
import type { Stored } from '../storage/storage.js';
import { differsIn, inVersion, type ShownAs } from './custom/in-version.js';
import { RecentCache } from './recent-cache.js';

/**
 * Caches the JSON of stored versions for all lists and watches, without `apiVersion` and `kind`, which depend on the
 * requested version. Texts may take an eighth of the heap limit; the least recently used ones are dropped.
 */
export class ObjectTexts {
  // Strings, since many small buffers outside of the heap keep the garbage collector busy.
  #bodies: RecentCache<KubeObject, string> | undefined;

  /** The object as a resource shows it, without `apiVersion` and `kind`. */
  body({ object }: Stored, { apiVersion, content }: ShownAs): string {
    const shown = content?.(object) ?? object;
    if (differsIn(shown, apiVersion)) return bodyOf(inVersion(shown, apiVersion));
    this.#bodies ??= new RecentCache(heapLimit() / 8, (text) => text.length);
    return this.#bodies.get(shown, () => bodyOf(shown));
  }

  /** The whole object, as a resource shows it. */
  whole(stored: Stored, as: ShownAs): string {
    const named = `{"kind":${JSON.stringify(stored.object.kind)},"apiVersion":${JSON.stringify(as.apiVersion)},`;
    // The text always contains metadata, so the comma is right; its opening brace is already written.
    return named + this.body(stored, as).slice(1);
  }
}

function bodyOf({ apiVersion: _a, kind: _k, ...rest }: KubeObject): string {
  return writeJson(rest);
}

/** In bytes. Loads `node:v8` on first use, so that a server starts without it. */
function heapLimit(): number {
  return process.getBuiltinModule('node:v8').getHeapStatistics().heap_size_limit;
}

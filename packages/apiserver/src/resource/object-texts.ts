import type { KubeObject } from 'riata/object';
import { writeJson } from '../http/body/write-json.js';
import type { Stored } from '../storage/storage.js';
import { differsIn, inVersion, type ShownAs } from './custom/in-version.js';
import { RecentCache } from './recent-cache.js';

/**
 * The JSON of stored versions, made once for all lists and watches that send it: the object without `apiVersion` and
 * `kind`, which depend on who asks. Texts may take an eighth of the memory that Node gives to JavaScript; what is past it
 * is made anew when it is sent.
 */
export class ObjectTexts {
  // They are strings, as many small buffers outside of the heap keep the garbage collector busy.
  #bodies: RecentCache<KubeObject, string> | undefined;

  /** What a resource shows of an object, without its name. */
  body({ object }: Stored, { apiVersion, content }: ShownAs): string {
    const shown = content?.(object) ?? object;
    if (differsIn(shown, apiVersion)) return bodyOf(inVersion(shown, apiVersion));
    this.#bodies ??= new RecentCache(heapLimit() / 8, (text) => text.length);
    return this.#bodies.get(shown, () => bodyOf(shown));
  }

  /** The whole object, as a resource shows it. */
  whole(stored: Stored, as: ShownAs): string {
    const named = `{"kind":${JSON.stringify(stored.object.kind)},"apiVersion":${JSON.stringify(as.apiVersion)},`;
    // Its metadata is always there, so that the comma is right; its opening brace has come already.
    return named + this.body(stored, as).slice(1);
  }
}

function bodyOf({ apiVersion: _a, kind: _k, ...rest }: KubeObject): string {
  return writeJson(rest);
}

/** In bytes. The module is loaded by who asks: a server starts without it. */
function heapLimit(): number {
  return process.getBuiltinModule('node:v8').getHeapStatistics().heap_size_limit;
}

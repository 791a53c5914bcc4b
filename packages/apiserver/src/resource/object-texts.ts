import type { KubeObject } from 'riata/object';
import { writeJson } from '../http/write-json.js';
import type { Stored } from '../storage/storage.js';
import { differsIn, inVersion } from './in-version.js';
import { RecentCache } from './recent-cache.js';

/**
 * The JSON of stored versions, made once for all lists and watches that send it: the object without `apiVersion` and
 * `kind`, which depend on who asks. Texts may take an eighth of the memory that Node gives to JavaScript; what is past it
 * is made anew when it is sent.
 */
export class ObjectTexts {
  // They are strings, as many small buffers outside of the heap keep the garbage collector busy.
  #bodies: RecentCache<Stored, string> | undefined;

  /** The object under a version, without its name. */
  body(stored: Stored, apiVersion: string): string {
    if (differsIn(stored.object, apiVersion)) return bodyOf(inVersion(stored.object, apiVersion));
    this.#bodies ??= new RecentCache(heapLimit() / 8, (text) => text.length);
    return this.#bodies.get(stored, () => bodyOf(stored.object));
  }

  /** The whole object, under a version. */
  whole(stored: Stored, apiVersion: string): string {
    const named = `{"kind":${JSON.stringify(stored.object.kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
    // Its metadata is always there, so that the comma is right; its opening brace has come already.
    return named + this.body(stored, apiVersion).slice(1);
  }
}

function bodyOf({ apiVersion: _a, kind: _k, ...rest }: KubeObject): string {
  return writeJson(rest);
}

/** In bytes. The module is loaded by who asks: a server starts without it. */
function heapLimit(): number {
  return process.getBuiltinModule('node:v8').getHeapStatistics().heap_size_limit;
}

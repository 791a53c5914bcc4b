import { Buffer } from 'node:buffer';
import type { Stored } from '../storage/storage.js';
import { RecentCache } from './recent-cache.js';

/** Texts of 50,000 objects of 5 KB; those of more are made anew when they are sent. */
const limitBytes = 256 * 1024 * 1024;

/**
 * The JSON of stored versions, made once for all lists and watches that send it: the object without `apiVersion` and
 * `kind`, which depend on who asks.
 */
export class ObjectTexts {
  readonly #bodies = new RecentCache<Stored, Buffer>(limitBytes, (bytes) => bytes.length);

  body(stored: Stored): Buffer {
    return this.#bodies.get(stored, () => {
      const { apiVersion: _a, kind: _k, ...rest } = stored.object;
      return Buffer.from(JSON.stringify(rest));
    });
  }

  /** The whole object, under a version, with text around it. */
  whole(stored: Stored, apiVersion: string, before = '', after = ''): Buffer {
    const body = this.body(stored);
    const { kind } = stored.object;
    const head = `${before}{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
    const headBytes = Buffer.byteLength(head);
    // Its metadata is always there, so that the comma is right; its opening brace has come already.
    const bytes = Buffer.allocUnsafe(headBytes + body.length - 1 + Buffer.byteLength(after));
    bytes.write(head, 0);
    body.copy(bytes, headBytes, 1);
    bytes.write(after, headBytes + body.length - 1);
    return bytes;
  }
}

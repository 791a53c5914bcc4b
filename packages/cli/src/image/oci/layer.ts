import { gzipSync } from 'fflate';
import { type Blob, blobOf, sha256 } from './blob.js';
import { mediaTypes } from './oci-types.js';
import { type TarEntry, tarOf } from './tar.js';

/** Files by their paths in the image, such as `app/main.mjs`. */
export type LayerFiles = ReadonlyMap<string, Uint8Array>;

/** A layer and the digest of its uncompressed form, by which the config names it. */
export interface Layer extends Blob {
  readonly diffId: string;
}

/**
 * A layer of files that everybody may read and nobody but root may write. The same files give the same bytes on every
 * machine: entries are sorted and have one time, and the compression is not Node's own, whose result depends on the
 * processor and on the version of zlib.
 *
 * @param mtime of all entries, in seconds since the epoch
 */
export function layerOf(files: LayerFiles, mtime: number): Layer {
  const entries = new Map<string, TarEntry & { content?: Uint8Array }>();
  for (const [path, content] of files) {
    for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
      const folder = path.slice(0, at + 1);
      entries.set(folder, { path: folder, mtime });
    }
    entries.set(path, { path, mtime, content });
  }
  const sorted = [...entries.keys()].sort().map((path) => entries.get(path) as TarEntry);
  const tar = tarOf(sorted);
  const compressed = gzipSync(tar, { level: 6, mtime: 0 });
  return { ...blobOf(mediaTypes.layer, compressed), diffId: sha256(tar) };
}

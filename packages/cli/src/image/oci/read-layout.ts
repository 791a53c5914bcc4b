import { createReadStream, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type BlobSource, isSha256, readAll, verified } from './blob.js';
import type { Descriptor, ImageIndex } from './oci-types.js';
import { readTarIndex } from './tar-index.js';

/** An image layout on disk. */
export interface ImageLayout extends BlobSource {
  readonly index: ImageIndex;
}

/** Opens an OCI layout: a folder, or an uncompressed tar archive of one. Blobs are verified when they are read. */
export async function openLayout(path: string): Promise<ImageLayout> {
  const isFolder = (await stat(path)).isDirectory();
  const files = isFolder ? folderFiles(path) : await archiveFiles(path);
  if (!files.has('oci-layout') || !files.has('index.json')) {
    const remedy = files.has('manifest.json') ? '; save it again with Docker 25 or newer, which writes both forms' : '';
    throw new Error(`${path}: not an OCI image layout: oci-layout or index.json is missing${remedy}`);
  }
  return {
    index: parse(await readAll(files.read('index.json')), `${path}: index.json`),
    read(descriptor) {
      const { digest } = descriptor;
      if (!isSha256(digest)) throw new Error(`${path}: digest "${digest}" is not supported; only sha256 is`);
      const name = `blobs/${digest.replace(':', '/')}`;
      if (!files.has(name)) throw new Error(`${path}: blob ${digest} is missing`);
      return verified(files.read(name), descriptor);
    },
  };
}

/** Reads a document that a descriptor points to. */
export async function readDocument<T>(source: BlobSource, descriptor: Descriptor, signal?: AbortSignal): Promise<T> {
  // Registries refuse manifests past 4 MiB.
  if (descriptor.size > 4 << 20)
    throw new Error(`${descriptor.digest}: ${descriptor.size} bytes are too many for a manifest`);
  return parse(await readAll(source.read(descriptor, signal && { signal })), descriptor.digest);
}

interface LayoutFiles {
  has(name: string): boolean;
  read(name: string): AsyncIterable<Uint8Array>;
}

function folderFiles(folder: string): LayoutFiles {
  return { has: (name) => existsSync(join(folder, name)), read: (name) => createReadStream(join(folder, name)) };
}

async function archiveFiles(path: string): Promise<LayoutFiles> {
  const index = await readTarIndex(path);
  return {
    has: (name) => index.has(name),
    async *read(name) {
      const { offset = 0, size = 0 } = index.get(name) ?? {};
      // An end before the start is an error to Node.
      if (size > 0) yield* createReadStream(path, { start: offset, end: offset + size - 1 });
    },
  };
}

function parse<T>(content: Buffer, what: string): T {
  try {
    return JSON.parse(content.toString('utf8'));
  } catch (error) {
    throw new Error(`${what}: malformed JSON: ${(error as Error).message}`, { cause: error });
  }
}

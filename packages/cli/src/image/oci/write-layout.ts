import { type FileHandle, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { jsonBlob } from './blob.js';
import type { Image } from './image.js';
import { type Descriptor, type ImageIndex, mediaTypes } from './oci-types.js';
import { tarEnd, tarHeader, tarPadding } from './tar.js';

/** What both forms of a layout take. */
export interface WriteLayoutOptions {
  /** Full names with tags, such as `registry.example.com/site-operator:1.2.0`. */
  readonly names: readonly string[];
  readonly signal?: AbortSignal;
}

/** Writes an image as an OCI layout into a folder, which must be missing, empty, or a layout, which is replaced. */
export async function writeLayoutFolder(folder: string, image: Image, options: WriteLayoutOptions): Promise<void> {
  const found: string[] = await readdir(folder).catch(() => []);
  if (found.length > 0 && !found.includes('oci-layout')) {
    throw new Error(`${folder}: the folder holds files that are not an image layout; choose another one`);
  }
  const unfinished = join(dirname(folder), `.${basename(folder)}.unfinished`);
  await rm(unfinished, { recursive: true, force: true });
  try {
    await mkdir(join(unfinished, 'blobs/sha256'), { recursive: true });
    for (const { path, content } of smallFiles(image, options)) await writeFile(join(unfinished, path), content);
    for (const descriptor of streamed(image)) {
      const file = await open(join(unfinished, blobPath(descriptor)), 'w');
      try {
        for await (const piece of image.source.read(descriptor, options)) await writeAll(file, piece);
      } finally {
        await file.close();
      }
    }
    await rm(folder, { recursive: true, force: true });
    await rename(unfinished, folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/**
 * Writes an image as a tar archive that is both an OCI layout and what `docker save` writes, so that `docker load`, podman
 * and skopeo take it. In Docker's older format an archive has one platform: the first one of the image.
 */
export async function writeLayoutArchive(path: string, image: Image, options: WriteLayoutOptions): Promise<void> {
  const unfinished = `${path}.unfinished`;
  await mkdir(dirname(path), { recursive: true });
  const file = await open(unfinished, 'w');
  try {
    await writeAll(file, tarHeader({ path: 'blobs/' }));
    await writeAll(file, tarHeader({ path: 'blobs/sha256/' }));
    for (const { path, content } of [...smallFiles(image, options), dockerManifest(image, options.names)]) {
      await writeAll(file, tarHeader({ path, size: content.byteLength }));
      await writeAll(file, content);
      await writeAll(file, tarPadding(content.byteLength));
    }
    for (const descriptor of streamed(image)) {
      await writeAll(file, tarHeader({ path: blobPath(descriptor), size: descriptor.size }));
      for await (const piece of image.source.read(descriptor, options)) await writeAll(file, piece);
      await writeAll(file, tarPadding(descriptor.size));
    }
    await writeAll(file, tarEnd);
    await file.close();
    await rename(unfinished, path);
  } finally {
    await file.close().catch(() => {});
    await rm(unfinished, { force: true });
  }
}

interface SmallFile {
  readonly path: string;
  readonly content: Uint8Array;
}

function smallFiles(image: Image, { names }: WriteLayoutOptions): SmallFile[] {
  // One entry for each name: `ref.name` is the tag, as the specification has it, and containerd reads the full one.
  const entries = names.map((name) => ({
    ...image.root,
    annotations: { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': tagOf(name) },
  }));
  const index: ImageIndex = {
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests: entries.length === 0 ? [image.root] : entries,
  };
  return [
    { path: 'oci-layout', content: Buffer.from('{"imageLayoutVersion":"1.0.0"}') },
    { path: 'index.json', content: jsonBlob(mediaTypes.index, index).content },
    ...[...image.documents].map(([digest, content]) => ({ path: blobPath({ digest }), content })),
  ];
}

function dockerManifest(image: Image, names: readonly string[]): SmallFile {
  const [first] = image.platforms;
  if (first === undefined) throw new Error('the image has no platform');
  const { config, layers } = first.manifest;
  const content = [{ Config: blobPath(config), RepoTags: names, Layers: layers.map(blobPath) }];
  return { path: 'manifest.json', content: Buffer.from(JSON.stringify(content)) };
}

/** Blobs that are not among the small files. */
function streamed({ blobs, documents }: Image): Descriptor[] {
  return blobs.filter(({ digest }) => !documents.has(digest));
}

function blobPath({ digest }: Pick<Descriptor, 'digest'>): string {
  return `blobs/${digest.replace(':', '/')}`;
}

function tagOf(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1);
}

async function writeAll(file: FileHandle, content: Uint8Array): Promise<void> {
  for (let at = 0; at < content.byteLength; ) at += (await file.write(content, at)).bytesWritten;
}

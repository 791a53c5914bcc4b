import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { BlobSource } from './oci/blob.js';
import type { PlatformImage } from './oci/image.js';
import {
  type Descriptor,
  type ImageConfig,
  type ImageIndex,
  type ImageManifest,
  isIndexType,
  isManifestType,
  mediaTypes,
  type Platform,
  platformName,
} from './oci/oci-types.js';
import { openLayout, readDocument } from './oci/read-layout.js';
import { formatImageReference, type ImageReference, parseImageReference } from './registry/image-reference.js';
import type { RegistryClient } from './registry/registry-client.js';
import { pullBlob, pullManifest } from './registry/registry-image.js';

/** The image below an operator's layer. */
export interface BaseImage {
  /** As it was given, with a tag. */
  readonly name: string;
  /** Of its index or manifest. */
  readonly digest: string;
  readonly platforms: readonly PlatformImage[];
  readonly source: BlobSource;
  /** Undefined for a layout on disk. */
  readonly reference?: ImageReference;
}

/** What {@link loadBaseImage} takes. */
export interface LoadBaseImageOptions {
  /** `linux/arm64`, several, or `all`. @default linux/amd64 and linux/arm64, those of them that the base has */
  readonly platforms?: readonly string[];
  readonly signal?: AbortSignal;
  /** Relative paths are relative to it. */
  readonly cwd: string;
  clientOf(registry: string): RegistryClient;
}

const usual = ['linux/amd64', 'linux/arm64'];

/**
 * Reads the manifests and configs of a base image, without its layers. `name` is an image in a registry, or a path: an OCI
 * layout as a folder or tar archive, by `oci:PATH`, or by itself if it begins with `.` or `/`.
 */
export async function loadBaseImage(name: string, options: LoadBaseImageOptions): Promise<BaseImage> {
  const path = /^(?:oci:|(?=\.{0,2}\/))(.+)$/.exec(name)?.[1];
  return path === undefined ? fromRegistry(name, options) : fromLayout(name, resolve(options.cwd, path), options);
}

async function fromRegistry(name: string, options: LoadBaseImageOptions): Promise<BaseImage> {
  const { clientOf, signal } = options;
  const given = parseImageReference(name);
  const reference = (given.tag ?? given.digest) ? given : { ...given, tag: 'latest' };
  const client = clientOf(reference.registry);
  const { repository } = reference;
  const root = await pullManifest(client, reference, signal);
  const source: BlobSource = {
    read: (descriptor, read) => pullBlob(client, repository, descriptor, read?.signal ?? signal),
  };
  // Manifests are not blobs to a registry.
  const manifests: BlobSource = {
    async *read(descriptor) {
      if (descriptor.digest === root.descriptor.digest) yield root.content;
      else if (!isManifestType(descriptor.mediaType)) yield* source.read(descriptor);
      else yield (await pullManifest(client, { ...reference, digest: descriptor.digest }, signal)).content;
    },
  };
  const platforms = await platformsOf(formatImageReference(reference), root.descriptor, manifests, options);
  return { name: formatImageReference(reference), digest: root.descriptor.digest, platforms, source, reference };
}

async function fromLayout(name: string, path: string, options: LoadBaseImageOptions): Promise<BaseImage> {
  if (!existsSync(path)) throw new Error(`base image "${name}": ${path} not found`);
  const layout = await openLayout(path);
  const images = layout.index.manifests.filter(({ mediaType }) => isIndexType(mediaType) || isManifestType(mediaType));
  const digests = new Set(images.map(({ digest }) => digest));
  const [root] = images;
  if (root === undefined) throw new Error(`base image "${name}": the layout holds no image`);
  // Several manifests with platforms are one image, of which some tools write the index to index.json itself.
  const isOne = digests.size === 1;
  if (!isOne && !images.every(({ platform }) => platform !== undefined)) {
    throw new Error(`base image "${name}": the layout holds ${digests.size} images; give one with a single image`);
  }
  const platforms = isOne
    ? await platformsOf(name, root, layout, options)
    : await readPlatforms(name, choose(name, images, options.platforms), layout, options);
  return { name, digest: root.digest, platforms, source: layout };
}

async function platformsOf(
  name: string,
  root: Descriptor,
  source: BlobSource,
  options: LoadBaseImageOptions,
): Promise<PlatformImage[]> {
  if (isManifestType(root.mediaType)) {
    const images = await readPlatforms(name, [root], source, options);
    // A single manifest says in its config what it runs on.
    choose(
      name,
      images.map(({ platform }) => ({ ...root, platform })),
      options.platforms,
    );
    return images;
  }
  const index = await readDocument<ImageIndex>(source, root, options.signal);
  return readPlatforms(name, choose(name, index.manifests, options.platforms), source, options);
}

function choose(name: string, found: readonly Descriptor[], wanted: readonly string[] | undefined): Descriptor[] {
  const known = found.filter(
    (each): each is Descriptor & { platform: Platform } =>
      isManifestType(each.mediaType) && each.platform !== undefined && each.platform.os !== 'unknown',
  );
  const names = known.map(({ platform }) => platformName(platform)).join(', ');
  if (wanted?.includes('all')) return known;
  const chosen = (wanted ?? usual).flatMap((platform) => {
    const match =
      known.find((each) => platformName(each.platform) === platform) ??
      known.find((each) => isPlatform(each.platform, platform));
    if (match === undefined && wanted !== undefined) {
      throw new Error(`base image "${name}": platform "${platform}" not found; it has ${names || 'none'}`);
    }
    return match === undefined ? [] : [match];
  });
  if (chosen.length > 0) return [...new Set(chosen)];
  throw new Error(
    `base image "${name}": it has neither linux/amd64 nor linux/arm64; choose with --platform from: ${names || 'none'}`,
  );
}

/** `linux/arm64` also is what calls itself `linux/arm64/v8`. */
function isPlatform(platform: Platform, wanted: string): boolean {
  return wanted === `${platform.os}/${platform.architecture}`;
}

async function readPlatforms(
  name: string,
  descriptors: readonly Descriptor[],
  source: BlobSource,
  { signal }: LoadBaseImageOptions,
): Promise<PlatformImage[]> {
  return Promise.all(
    descriptors.map(async (descriptor) => {
      const manifest = await readDocument<ImageManifest>(source, descriptor, signal);
      const config = await readDocument<ImageConfig>(source, manifest.config, signal);
      if (config.rootfs?.diff_ids?.length !== manifest.layers?.length) {
        throw new Error(`base image "${name}": ${descriptor.digest} has other layers than its config lists`);
      }
      const { os, architecture, variant } = config;
      const platform = descriptor.platform ?? { os, architecture, ...(variant !== undefined && { variant }) };
      return { platform, config, manifest: { ...manifest, layers: manifest.layers.map(asOciLayer) } };
    }),
  );
}

/** Docker's layers have the same bytes under another name. */
function asOciLayer(layer: Descriptor): Descriptor {
  const type = layer.mediaType;
  if (type === 'application/vnd.docker.image.rootfs.diff.tar.gzip') return { ...layer, mediaType: mediaTypes.layer };
  if (type === 'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip') {
    return { ...layer, mediaType: 'application/vnd.oci.image.layer.nondistributable.v1.tar+gzip' };
  }
  return layer;
}

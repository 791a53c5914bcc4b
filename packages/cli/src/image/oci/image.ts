import { type Blob, type BlobSource, blobsAndThen, jsonBlob } from './blob.js';
import {
  type Descriptor,
  type ImageConfig,
  type ImageIndex,
  type ImageManifest,
  mediaTypes,
  type Platform,
} from './oci-types.js';

/** An image of one platform, read or built. */
export interface PlatformImage {
  readonly platform: Platform;
  readonly manifest: ImageManifest;
  readonly config: ImageConfig;
}

/** An image, complete: everything that a registry or a layout has to hold. */
export interface Image {
  /** Points to the index, or to the manifest if there is one platform. */
  readonly root: Descriptor;
  /** Of each platform: its manifest and what this points to. */
  readonly platforms: readonly (PlatformImage & { readonly descriptor: Descriptor })[];
  /** Index, manifests and configs, by digest. */
  readonly documents: ReadonlyMap<string, Uint8Array>;
  /** Config and layers of all platforms, each once. */
  readonly blobs: readonly Descriptor[];
  /** Reads {@link blobs}. */
  readonly source: BlobSource;
}

/** What {@link assembleImage} takes. */
export interface ImageParts {
  readonly platforms: readonly PlatformImage[];
  /** Blobs in memory; configs need not be among them. */
  readonly blobs?: readonly Blob[];
  /** Where all other blobs come from. */
  readonly source?: BlobSource;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Puts images of several platforms together: an index, unless there is only one. */
export function assembleImage({ platforms, blobs = [], source, annotations = {} }: ImageParts): Image {
  const configs: Blob[] = [];
  const manifests = platforms.map((each) => {
    const config = jsonBlob(mediaTypes.config, each.config);
    configs.push(config);
    const manifest: ImageManifest = {
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config: config.descriptor,
      layers: each.manifest.layers,
      ...withAnnotations({ ...each.manifest.annotations, ...annotations }),
    };
    const blob = jsonBlob(mediaTypes.manifest, manifest);
    return { ...each, manifest, blob, descriptor: { ...blob.descriptor, platform: each.platform } };
  });
  const index: ImageIndex = {
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests: manifests.map(({ descriptor }) => descriptor),
    ...withAnnotations(annotations),
  };
  const [only] = manifests;
  const root = manifests.length === 1 && only !== undefined ? only.blob : jsonBlob(mediaTypes.index, index);
  const documents = [root, ...manifests.map(({ blob }) => blob), ...configs];
  const all = manifests.flatMap(({ manifest }) => [manifest.config, ...manifest.layers]);
  return {
    root: root.descriptor,
    platforms: manifests.map(({ blob: _, ...rest }) => rest),
    documents: new Map(documents.map(({ descriptor, content }) => [descriptor.digest, content])),
    // A layer that is not to be distributed stays where its URLs lead.
    blobs: [...new Map(all.filter(({ urls }) => !urls?.length).map((each) => [each.digest, each])).values()],
    source: blobsAndThen([...configs, ...blobs], source),
  };
}

function withAnnotations(annotations: Readonly<Record<string, string>>): {
  annotations?: Readonly<Record<string, string>>;
} {
  const sorted = Object.entries(annotations).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.length === 0 ? {} : { annotations: Object.fromEntries(sorted) };
}

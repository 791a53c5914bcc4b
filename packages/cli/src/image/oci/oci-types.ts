/** The media types of the OCI image specification, and Docker's older ones, which registries still hold. */
export const mediaTypes = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
  dockerIndex: 'application/vnd.docker.distribution.manifest.list.v2+json',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
} as const;

/** Points to a blob by its digest. */
export interface Descriptor {
  readonly mediaType: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  /** In bytes. */
  readonly size: number;
  readonly urls?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly platform?: Platform;
  readonly artifactType?: string;
}

/** What a manifest of an index runs on. */
export interface Platform {
  readonly os: string;
  readonly architecture: string;
  readonly variant?: string;
  readonly 'os.version'?: string;
  readonly 'os.features'?: readonly string[];
}

/** An image of one platform. */
export interface ImageManifest {
  readonly schemaVersion: 2;
  readonly mediaType?: string;
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/** An image of several platforms, or the list of what a layout holds. */
export interface ImageIndex {
  readonly schemaVersion: 2;
  readonly mediaType?: string;
  readonly manifests: readonly Descriptor[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/** How a container of the image runs, and which layers make up its files. Fields that are not listed are kept. */
export interface ImageConfig extends Platform {
  readonly created?: string;
  readonly config?: ContainerConfig;
  readonly rootfs: { readonly type: 'layers'; readonly diff_ids: readonly string[] };
  readonly history?: readonly HistoryEntry[];
}

/** The part of {@link ImageConfig} that a container takes over. */
export interface ContainerConfig {
  readonly User?: string;
  readonly Env?: readonly string[] | null;
  readonly Entrypoint?: readonly string[] | null;
  readonly Cmd?: readonly string[] | null;
  readonly WorkingDir?: string;
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly OnBuild?: unknown;
}

/** How a layer, or a step without one, came about. */
export interface HistoryEntry {
  readonly created?: string;
  readonly created_by?: string;
  readonly comment?: string;
  readonly empty_layer?: boolean;
}

/** `linux/arm64/v8` as text: what `--platform` takes. */
export function platformName({ os, architecture, variant }: Platform): string {
  return variant === undefined ? `${os}/${architecture}` : `${os}/${architecture}/${variant}`;
}

/** Whether a media type is an index of either kind. */
export function isIndexType(mediaType: string | undefined): boolean {
  return mediaType === mediaTypes.index || mediaType === mediaTypes.dockerIndex;
}

/** Whether a media type is a manifest of either kind. */
export function isManifestType(mediaType: string | undefined): boolean {
  return mediaType === mediaTypes.manifest || mediaType === mediaTypes.dockerManifest;
}

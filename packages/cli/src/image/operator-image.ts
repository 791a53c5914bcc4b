import type { BaseImage } from './base-image.js';
import { assembleImage, type Image, type PlatformImage } from './oci/image.js';
import type { Layer } from './oci/layer.js';
import type { ContainerConfig } from './oci/oci-types.js';

/** What {@link operatorImage} takes. */
export interface OperatorImageOptions {
  readonly base: BaseImage;
  readonly layer: Layer;
  /** The program in the image: `/app/main.mjs`. */
  readonly main: string;
  /** @default the base's entrypoint if that is Node, else `node` on its PATH */
  readonly node?: string;
  /** Labels, which become annotations of the manifests too. */
  readonly labels: Readonly<Record<string, string>>;
  /** Of the image, in seconds since the epoch. */
  readonly created: number;
}

/** Numeric, so that a kubelet can verify `runAsNonRoot`; the user `nonroot` of distroless images. */
export const imageUser = '65532:65532';

/** The base with the operator's layer on top of it, for all of its platforms. */
export function operatorImage(options: OperatorImageOptions): Image {
  const { base, layer, labels } = options;
  const annotations = {
    ...labels,
    'org.opencontainers.image.base.digest': base.digest,
    ...(base.reference && { 'org.opencontainers.image.base.name': base.name }),
  };
  return assembleImage({
    platforms: base.platforms.map((each) => withLayer(each, options)),
    blobs: [layer],
    source: base.source,
    annotations,
  });
}

function withLayer({ platform, manifest, config }: PlatformImage, options: OperatorImageOptions): PlatformImage {
  const { layer, labels } = options;
  const created = new Date(options.created * 1000).toISOString().replace('.000Z', 'Z');
  // Cmd would be appended to our entrypoint; OnBuild is for images that are built from a Dockerfile.
  const { Cmd: _, OnBuild: __, ...inherited }: ContainerConfig = config.config ?? {};
  return {
    platform,
    manifest: { ...manifest, layers: [...manifest.layers, layer.descriptor] },
    config: {
      ...config,
      created,
      config: {
        ...inherited,
        User: imageUser,
        Env: withEnv(inherited.Env ?? [], 'NODE_ENV', 'production'),
        Entrypoint: [...nodeCommand(inherited, options.node), '--enable-source-maps', options.main],
        WorkingDir: '/app',
        Labels: { ...inherited.Labels, ...labels },
      },
      rootfs: { type: 'layers', diff_ids: [...config.rootfs.diff_ids, layer.diffId] },
      history: [
        ...(config.history ?? []),
        { created, created_by: 'riata image', comment: 'the operator and its packages' },
      ],
    },
  };
}

/** How the base starts Node: distroless images have it outside of the PATH, in their entrypoint. */
function nodeCommand({ Entrypoint }: ContainerConfig, given: string | undefined): readonly string[] {
  if (given !== undefined) return [given];
  return /(?:^|\/)node(?:js)?$/.test(Entrypoint?.at(-1) ?? '') ? (Entrypoint as readonly string[]) : ['node'];
}

function withEnv(env: readonly string[], name: string, value: string): string[] {
  return [...env.filter((each) => !each.startsWith(`${name}=`)), `${name}=${value}`];
}

import { assembleImage, type Image } from './oci/image.js';
import { layerOf } from './oci/layer.js';

/** A small image of these platforms, such as a registry has: a file, and an entrypoint as distroless images have it. */
export function tinyBase(platforms: readonly string[] = ['linux/amd64', 'linux/arm64', 'linux/s390x']): Image {
  const layer = layerOf(new Map([['etc/os-release', Buffer.from('NAME=tiny\n')]]), 0);
  return assembleImage({
    platforms: platforms.map((name) => {
      const [os = '', architecture = '', variant] = name.split('/');
      const platform = { os, architecture, ...(variant !== undefined && { variant }) };
      return {
        platform,
        manifest: { schemaVersion: 2, config: layer.descriptor, layers: [layer.descriptor] },
        config: {
          ...platform,
          config: {
            Entrypoint: ['/nodejs/bin/node'],
            Cmd: ['server.js'],
            Env: ['PATH=/bin', 'NODE_ENV=development'],
            Labels: { vendor: 'tiny' },
          },
          rootfs: { type: 'layers', diff_ids: [layer.diffId] },
          history: [{ created: '2026-01-01T00:00:00Z', created_by: 'COPY / /' }],
        },
      };
    }),
    blobs: [layer],
  });
}

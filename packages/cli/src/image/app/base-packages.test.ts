import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { BaseImage } from '../base-image.js';
import { type Blob, blobOf, blobsAndThen } from '../oci/blob.js';
import { mediaTypes } from '../oci/oci-types.js';
import { tarOf } from '../oci/tar.js';
import { basePackages } from './base-packages.js';
import { cyclonedxSbom } from './sbom.js';

const layer = (files: Readonly<Record<string, string>>): Blob =>
  blobOf(
    mediaTypes.layer,
    gzipSync(tarOf(Object.entries(files).map(([path, text]) => ({ path, content: Buffer.from(text) })))),
  );

/** A base of these layers, by architecture. */
function baseOf(byArchitecture: Readonly<Record<string, readonly Blob[]>>, env: readonly string[] = []): BaseImage {
  return {
    ...{ name: 'r.example.com/node:22', digest: 'sha256:00' },
    source: blobsAndThen(Object.values(byArchitecture).flat()),
    platforms: Object.entries(byArchitecture).map(([architecture, layers]) => ({
      platform: { os: 'linux', architecture },
      manifest: {
        schemaVersion: 2,
        config: { mediaType: '', digest: '', size: 0 },
        layers: layers.map(({ descriptor }) => descriptor),
      },
      config: { os: 'linux', architecture, config: { Env: env }, rootfs: { type: 'layers', diff_ids: [] } },
    })),
  };
}

const purls = async (base: BaseImage) => (await basePackages(base)).packages.map(({ purl }) => purl);
const debian = { 'etc/os-release': 'NAME="Debian"\nID=debian\nVERSION_ID="12"\n' };
const stanza = (name: string, version: string, more = '', arch = 'amd64') =>
  `Package: ${name}\nVersion: ${version}\nArchitecture: ${arch}\n${more}Description: x\n a longer text\n`;
const node = (version: string) =>
  `${'x'.repeat(300_000)}https://nodejs.org/download/release/v${version}/node-v${version}-headers.tar.gz\0rest`;

describe('packages of a base', () => {
  test('of distroless: one file for each package, and Node by its binary', async () => {
    const layers = (arch: string) => [
      layer({ ...debian, './var/lib/dpkg/status.d/libc6': stanza('libc6', '2.36-9+deb12u10', '', arch) }),
      layer({
        'var/lib/dpkg/status.d/libc6.md5sums': '0123  lib/x86_64-linux-gnu/libc.so.6\n',
        [`${'a/long/path/'.repeat(12)}bin/other`]: 'x',
        'nodejs/bin/node': node('22.14.0'),
      }),
    ];
    expect(await purls(baseOf({ amd64: layers('amd64'), arm64: layers('arm64') }))).toEqual([
      'pkg:deb/debian/libc6@2.36-9%2Bdeb12u10?arch=amd64&distro=debian-12',
      'pkg:deb/debian/libc6@2.36-9%2Bdeb12u10?arch=arm64&distro=debian-12',
      'pkg:generic/node@22.14.0?arch=amd64',
      'pkg:generic/node@22.14.0?arch=arm64',
    ]);
  });

  test('of dpkg: the last layer counts, and removed packages do not', async () => {
    const status = (texts: readonly string[]) => ({ 'var/lib/dpkg/status': texts.join('\n') });
    const installed = 'Status: install ok installed\n';
    const base = baseOf({
      amd64: [
        layer({ ...debian, ...status([stanza('bash', '5.1', installed)]) }),
        layer(
          status([
            stanza('bash', '5.2', installed),
            stanza('perl', '5.36', 'Status: deinstall ok config-files\n'),
            stanza('zlib1g', '1:1.2.13', installed),
          ]),
        ),
      ],
    });
    expect(await purls(base)).toEqual([
      'pkg:deb/debian/bash@5.2?arch=amd64&distro=debian-12',
      'pkg:deb/debian/zlib1g@1%3A1.2.13?arch=amd64&distro=debian-12',
    ]);
  });

  test('of apk, with licenses; Node by the environment of the image', async () => {
    const apk =
      'C:Q1\nP:musl\nV:1.2.5-r0\nA:x86_64\nL:MIT\n\nC:Q2\nP:busybox\nV:1.36.1-r29\nA:x86_64\nL:GPL-2.0-only\n\n';
    const base = baseOf(
      {
        amd64: [
          layer({ 'etc/os-release': 'ID=alpine\nVERSION_ID=3.20.1\n', 'lib/apk/db/installed': apk }),
          layer({ 'usr/local/bin/node': 'stripped of everything' }),
        ],
      },
      ['NODE_VERSION=22.1.0'],
    );
    const { packages } = await basePackages(base);
    expect(packages).toEqual([
      expect.objectContaining({
        purl: 'pkg:apk/alpine/busybox@1.36.1-r29?arch=x86_64&distro=alpine-3.20.1',
        license: 'GPL-2.0-only',
      }),
      expect.objectContaining({ purl: 'pkg:apk/alpine/musl@1.2.5-r0?arch=x86_64&distro=alpine-3.20.1' }),
      expect.objectContaining({ purl: 'pkg:generic/node@22.1.0?arch=amd64' }),
    ]);
  });

  test('files that an upper layer removes', async () => {
    const below = layer({ 'var/lib/dpkg/status.d/a': stanza('a', '1'), 'var/lib/dpkg/status.d/b': stanza('b', '1') });
    const one = layer({ 'var/lib/dpkg/status.d/.wh.a': '' });
    const all = layer({ 'var/lib/dpkg/.wh..wh..opq': '' });
    expect(await purls(baseOf({ amd64: [below, one] }))).toEqual(['pkg:deb/debian/b@1?arch=amd64']);
    expect(await purls(baseOf({ amd64: [below, all] }))).toEqual([]);
  });

  test('what cannot be read is named', async () => {
    const zstd = blobOf('application/vnd.oci.image.layer.v1.tar+zstd', Buffer.from('x'));
    const base = baseOf({ amd64: [zstd, layer({ 'var/lib/rpm/rpmdb.sqlite': 'x' })] });
    expect((await basePackages(base)).unread).toEqual([
      'application/vnd.oci.image.layer.v1.tar+zstd is not supported',
      'var/lib/rpm/rpmdb.sqlite is a database of rpm, which is not supported',
    ]);
    const broken = baseOf({ amd64: [blobOf(mediaTypes.layer, gzipSync(Buffer.alloc(1024, 1)))] });
    await expect(basePackages(broken)).rejects.toThrow(/^layer sha256:\w+ is not a tar archive$/);
  });

  test('in the bill of materials', () => {
    const purl = 'pkg:deb/debian/libc6@2.36?arch=amd64&distro=debian-12';
    const sbom = JSON.parse(
      cyclonedxSbom({
        ...{ name: 'sites', version: '1.0.0', description: '', packages: [] },
        base: {
          name: 'r.example.com/node:22',
          digest: 'sha256:00',
          packages: [{ name: 'libc6', version: '2.36', purl }],
        },
      }),
    );
    expect(sbom.components).toEqual([
      { 'bom-ref': 'sha256:00', type: 'container', name: 'r.example.com/node:22', version: 'sha256:00' },
      { 'bom-ref': purl, type: 'library', name: 'libc6', version: '2.36', purl },
    ]);
    expect(sbom.dependencies).toEqual([
      { ref: 'pkg:npm/sites@1.0.0', dependsOn: ['sha256:00'] },
      { ref: 'sha256:00', dependsOn: [purl] },
    ]);
  });
});

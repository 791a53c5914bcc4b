import { posix } from 'node:path';
import type { BaseImage } from '../base-image.js';
import { canReadLayer, readLayer } from '../oci/read-layer.js';

/** A package of a base image. */
export interface BasePackage {
  readonly name: string;
  readonly version: string;
  /** A package URL: `pkg:deb/debian/libc6@2.36-9?arch=amd64&distro=debian-12`. */
  readonly purl: string;
  /** An SPDX expression or a name, where the database has it. */
  readonly license?: string;
}

/** What is installed in a base image. */
export interface BasePackages {
  readonly packages: readonly BasePackage[];
  /** What could not be read, in words. */
  readonly unread: readonly string[];
}

/** Files that tell what is installed, of the databases of dpkg (distroless: one file each) and apk. */
const databases =
  /^(?:var\/lib\/dpkg\/status|var\/lib\/dpkg\/status\.d\/[^/]+|lib\/apk\/db\/installed|usr\/lib\/apk\/db\/installed)$/;
const releases = /^(?:etc|usr\/lib)\/os-release$/;
const rpm = /^(?:var\/lib|usr\/lib\/sysimage)\/rpm\/(?:rpmdb\.sqlite|Packages(?:\.db)?)$/;
const nodePath = /(?:^|\/)bin\/node(?:js)?$/;
const databaseLimit = 64 << 20;

/**
 * The packages of a base image, from the databases in its layers, and Node. Of all platforms; each package URL names the
 * architecture.
 */
export async function basePackages(base: BaseImage, signal?: AbortSignal): Promise<BasePackages> {
  const packages = new Map<string, BasePackage>();
  const unread = new Set<string>();
  for (const { manifest, platform, config } of base.platforms) {
    const files = new Map<string, string>();
    for (const layer of manifest.layers) {
      if (!canReadLayer(layer)) {
        unread.add(`${layer.mediaType} is not supported`);
        continue;
      }
      for await (const { path, isFile, content } of readLayer(base.source, layer, signal)) {
        if (remove(files, path) || !isFile) continue;
        if (rpm.test(path)) unread.add(`${path} is a database of rpm, which is not supported`);
        else if (nodePath.test(path)) files.set(path, (await nodeVersion(content)) ?? '');
        else if (databases.test(path) || releases.test(path)) files.set(path, await textOf(content));
      }
    }
    const release = releaseOf(files.get('etc/os-release') || files.get('usr/lib/os-release') || '');
    const env = config.config?.Env?.find((each) => each.startsWith('NODE_VERSION='))?.split('=')[1];
    for (const [path, text] of files) {
      const found = databases.test(path) ? installed(path, text, release) : [];
      const version = nodePath.test(path) ? text || env : undefined;
      const node = version ? [nodePackage(version, platform.architecture)] : [];
      for (const each of [...found, ...node]) packages.set(each.purl, each);
    }
  }
  return {
    packages: [...packages.values()].sort((a, b) => (a.purl < b.purl ? -1 : 1)),
    unread: [...unread].sort(),
  };
}

/** Applies a whiteout: a layer removes files of those below by entries with special names. */
function remove(files: Map<string, string>, path: string): boolean {
  const name = posix.basename(path);
  if (!name.startsWith('.wh.')) return false;
  const folder = posix.dirname(path);
  const removed = name === '.wh..wh..opq' ? folder : posix.join(folder, name.slice('.wh.'.length));
  for (const known of files.keys()) if (known === removed || known.startsWith(`${removed}/`)) files.delete(known);
  return true;
}

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of content) {
    size += piece.byteLength;
    if (size > databaseLimit) throw new Error('the package database of the base image is larger than 64 MiB');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

/** The version of a Node binary, which holds the address of its headers. */
async function nodeVersion(content: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  let before = '';
  for await (const piece of content) {
    const text = before + Buffer.from(piece).toString('latin1');
    const version = /\/release\/v(\d+\.\d+\.\d+)\/node-v\1-headers\.tar\.gz/.exec(text)?.[1];
    if (version !== undefined) return version;
    before = text.slice(-200);
  }
  return undefined;
}

function nodePackage(version: string, arch: string): BasePackage {
  return { name: 'node', version, purl: `pkg:generic/node@${version}?arch=${arch}`, license: 'MIT' };
}

interface Release {
  readonly id: string;
  readonly version: string;
}

function releaseOf(text: string): Release {
  const value = (name: string) => new RegExp(`^${name}="?([^"\\n]*)"?$`, 'm').exec(text)?.[1] ?? '';
  return { id: value('ID'), version: value('VERSION_ID') };
}

function installed(path: string, text: string, release: Release): BasePackage[] {
  const isApk = path.includes('apk');
  return text.split(/\n\s*\n/).flatMap((stanza) => {
    const field = (name: string) => new RegExp(`^${name}:[ ]?(.*)$`, 'm').exec(stanza)?.[1]?.trim();
    const [name, version, arch] = isApk
      ? [field('P'), field('V'), field('A')]
      : [field('Package'), field('Version'), field('Architecture')];
    const status = field('Status');
    // dpkg remembers packages that were removed.
    if (!name || !version || (status !== undefined && !/ installed$/.test(status))) return [];
    const license = isApk ? field('L') : undefined;
    return [
      {
        name,
        version,
        purl: purl(isApk ? 'apk' : 'deb', { name, version, arch }, release),
        ...(license && { license }),
      },
    ];
  });
}

function purl(
  type: 'apk' | 'deb',
  { name, version, arch }: { readonly name: string; readonly version: string; readonly arch: string | undefined },
  { id, version: release }: Release,
): string {
  const namespace = id || (type === 'apk' ? 'alpine' : 'debian');
  const qualifiers = [
    ...(arch ? [`arch=${encodeURIComponent(arch)}`] : []),
    ...(id && release ? [`distro=${encodeURIComponent(`${id}-${release}`)}`] : []),
  ].join('&');
  const path = `${type}/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}@${encodeURIComponent(version)}`;
  return `pkg:${path}${qualifiers === '' ? '' : `?${qualifiers}`}`;
}

import { Buffer } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { readTar } from './read-tar.js';
import { removeOutside } from './remove-outside.js';
import { isZero } from './sparse-map.js';
import { blockBytes, encodeHeader, padding, type TarEntry, TarError } from './tar-header.js';

const fs = () => process.getBuiltinModule('node:fs/promises');
const paths = () => process.getBuiltinModule('node:path');

/** Hears what is copied. */
export interface CopyListener {
  /** Content of a file, as it passes. */
  onBytes(path: string, bytes: Uint8Array): void;
  /** A file is complete; `path` is relative to what is copied, `''` for that itself. */
  onFile(path: string): void;
}

/** Archives a local file or folder; its members begin with `name`. What is no file, folder or link is refused. */
export async function* tarOf(path: string, name: string, listener: CopyListener): AsyncGenerator<Uint8Array> {
  yield* membersOf(path, name, '', listener);
  yield Buffer.alloc(2 * blockBytes);
}

async function* membersOf(
  path: string,
  name: string,
  below: string,
  listener: CopyListener,
): AsyncGenerator<Uint8Array> {
  const { lstat, readdir, readlink } = fs();
  const stats = await lstat(path);
  const common = { path: name, mode: stats.mode & 0o7777, mtime: stats.mtimeMs / 1000, size: 0, target: '' };
  if (stats.isSymbolicLink()) yield encodeHeader({ ...common, type: 'symlink', target: await readlink(path) });
  else if (stats.isFile()) yield* fileMember(path, { ...common, type: 'file', size: stats.size }, below, listener);
  else if (stats.isDirectory()) {
    yield encodeHeader({ ...common, type: 'folder' });
    for (const child of (await readdir(path)).sort()) {
      const [from, to] = [paths().join(path, child), below === '' ? child : `${below}/${child}`];
      yield* membersOf(from, `${name}/${child}`, to, listener);
    }
  } else throw new Error(`copy ${path}: not a file, folder or symbolic link`);
}

async function* fileMember(
  path: string,
  entry: TarEntry,
  below: string,
  listener: CopyListener,
): AsyncGenerator<Uint8Array> {
  yield encodeHeader(entry);
  await using file = await fs().open(path, 'r');
  let left = entry.size;
  while (left > 0) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(left, 65_536)));
    if (bytesRead === 0) throw new Error(`copy ${path}: the file became shorter while it was read`);
    left -= bytesRead;
    const bytes = buffer.subarray(0, bytesRead);
    listener.onBytes(below, bytes);
    yield bytes;
  }
  listener.onFile(below);
  yield Buffer.alloc(padding(entry.size));
}

/**
 * Unpacks an archive of one file or folder, whose members all begin with `name`, so that this becomes `target`. A
 * hostile archive cannot write outside of `target`: names that lead elsewhere, links that do, and members behind a link
 * are refused.
 */
export async function unpackTo(
  source: AsyncIterable<Uint8Array>,
  name: string,
  target: string,
  listener: CopyListener,
): Promise<void> {
  const folders: { readonly path: string; readonly entry: TarEntry }[] = [];
  /** Symbolic links, which later members may lead elsewhere. */
  const links: string[] = [];
  try {
    await placeMembers(source, name, target, listener, folders, links);
  } finally {
    // Also after a failure: what is there already must not lead outside.
    await removeOutside(target, links);
  }
  // Last, and the innermost first: a folder may forbid to write into it, and writing changes its time.
  for (const { path, entry } of folders.reverse()) {
    await fs().chmod(path, entry.mode);
    await fs().utimes(path, entry.mtime, entry.mtime);
  }
}

async function placeMembers(
  source: AsyncIterable<Uint8Array>,
  name: string,
  target: string,
  listener: CopyListener,
  folders: { readonly path: string; readonly entry: TarEntry }[],
  links: string[],
): Promise<void> {
  let count = 0;
  for await (const { entry, content } of readTar(source)) {
    count += 1;
    const below = belowName(entry.path, name);
    const path = below === '' ? target : paths().join(target, below);
    if (below !== '') await refuseLinks(target, below);
    if (entry.type === 'folder') {
      await fs().mkdir(path, { recursive: true });
      folders.push({ path, entry });
    } else if (entry.type === 'file') await writeMember(path, below, entry, content, listener);
    else if (entry.type === 'symlink') {
      await link(path, below, entry.target, target);
      links.push(below);
    } else if (entry.type === 'link') {
      const from = belowName(entry.target, name);
      await refuseLinks(target, from);
      if (from === below || from === '') throw new TarError(`copy: ${JSON.stringify(below)} is a link to itself`);
      await copyLinked(paths().join(target, from), path, () => links.push(below));
    } else throw new TarError(`copy: ${JSON.stringify(entry.path)} is a device or another special file`);
  }
  if (count === 0) throw new TarError('copy: the archive is empty');
}

async function writeMember(
  path: string,
  below: string,
  { mode, mtime }: TarEntry,
  content: AsyncIterable<Uint8Array>,
  listener: CopyListener,
): Promise<void> {
  // What is there may be a link: it is replaced, not followed.
  await fs().rm(path, { force: true });
  {
    await using file = await fs().open(path, 'wx', 0o600);
    let at = 0;
    for await (const bytes of content) {
      listener.onBytes(below, bytes);
      await writePiece(file, bytes, at);
      at += bytes.length;
    }
    // A hole at the end is not written.
    await file.truncate(at);
    await file.chmod(mode);
    await file.utimes(mtime, mtime);
  }
  listener.onFile(below);
}

/** As file systems have them: runs of zeros that are shorter than this are written. */
const holeBytes = 4096;

/** Writes a piece of a file; long runs of zeros become holes. */
async function writePiece(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let from = 0; from < bytes.length; ) {
    let to = from;
    while (to < bytes.length && isZero(bytes.subarray(to, to + holeBytes))) to += holeBytes;
    if (to - from >= holeBytes) from = Math.min(to, bytes.length);
    to = from;
    while (to < bytes.length && !isZero(bytes.subarray(to, to + holeBytes))) to += holeBytes;
    to = Math.min(to, bytes.length);
    for (let done = from; done < to; ) done += (await file.write(bytes, done, to - done, at + done)).bytesWritten;
    from = to;
  }
}

/** A link must stay inside of what is copied. */
async function link(path: string, below: string, leadsTo: string, target: string): Promise<void> {
  const { resolve, dirname, isAbsolute, relative } = paths();
  const end = relative(resolve(target), resolve(dirname(path), leadsTo));
  if (below === '' || isAbsolute(leadsTo) || end === '..' || end.startsWith('../') || isAbsolute(end)) {
    throw new TarError(`copy: the link ${JSON.stringify(below)} leads outside, to ${JSON.stringify(leadsTo)}`);
  }
  await fs().rm(path, { force: true });
  await fs().symlink(leadsTo, path);
}

/** What a hard link leads to is copied; a link stays one, and is not followed. */
async function copyLinked(from: string, to: string, onLink: () => void): Promise<void> {
  const { lstat, readlink, rm, symlink, copyFile } = fs();
  const isLink = (await lstat(from)).isSymbolicLink();
  await rm(to, { force: true });
  if (isLink) {
    await symlink(await readlink(from), to);
    onLink();
  } else await copyFile(from, to);
}

/** Makes the folders above a member; refuses to go through a link. */
async function refuseLinks(target: string, below: string): Promise<void> {
  const parts = below.split('/').slice(0, -1);
  let path = target;
  for (const part of parts) {
    path = paths().join(path, part);
    const stats = await fs()
      .lstat(path)
      .catch(() => undefined);
    if (stats === undefined) await fs().mkdir(path);
    else if (stats.isSymbolicLink()) {
      throw new TarError(`copy: ${JSON.stringify(below)} would be written through the link ${JSON.stringify(path)}`);
    }
  }
}

/** The path of a member relative to what is copied. Throws for one that is not within it. */
function belowName(path: string, name: string): string {
  const plain = path.replace(/^(\.\/)+/, '');
  const below = plain === name ? '' : plain.startsWith(`${name}/`) ? plain.slice(name.length + 1) : undefined;
  const isSafe = below !== undefined && !below.includes('\0') && !below.split('/').some((part) => part === '..');
  if (!isSafe || below.startsWith('/')) throw new TarError(`copy: the member ${JSON.stringify(path)} leads elsewhere`);
  return below;
}

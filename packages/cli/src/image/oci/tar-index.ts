import { type FileHandle, open } from 'node:fs/promises';
import { block, hasChecksum, headerPath, paxPath, sizeOf, text } from './tar-header.js';

/** Where the content of each file of an archive is. */
export type TarIndex = ReadonlyMap<string, { readonly offset: number; readonly size: number }>;

/**
 * Reads the headers of an uncompressed tar archive, without its contents. Paths come without a leading `./`. Entries other
 * than files are left out. Throws if the file is no tar archive.
 */
export async function readTarIndex(path: string): Promise<TarIndex> {
  const file = await open(path);
  try {
    const found = new Map<string, { offset: number; size: number }>();
    const total = (await file.stat()).size;
    let longPath: string | undefined;
    for (let at = 0; at + block <= total; ) {
      const header = await readAt(file, at, block);
      if (header.every((byte) => byte === 0)) break;
      if (!hasChecksum(header)) throw new Error(`${path}: not an uncompressed tar archive`);
      const type = String.fromCharCode(header[156] as number);
      const size = sizeOf(header);
      const offset = at + block;
      if (size < 0 || offset + size > total) throw new Error(`${path}: truncated tar archive`);
      if (type === 'x' || type === 'L') {
        const content = await readAt(file, offset, Math.min(size, 1 << 20));
        longPath = type === 'L' ? text(content, 0, content.length) : (paxPath(content) ?? longPath);
      } else {
        const name = longPath ?? headerPath(header);
        longPath = undefined;
        if (type === '0' || type === '\0') found.set(name.replace(/^(?:\.\/)+/, ''), { offset, size });
      }
      at = offset + Math.ceil(size / block) * block;
    }
    return found;
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, at);
  return buffer.subarray(0, bytesRead);
}

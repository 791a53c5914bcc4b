import { type FileHandle, open } from 'node:fs/promises';

/** Where the content of each file of an archive is. */
export type TarIndex = ReadonlyMap<string, { readonly offset: number; readonly size: number }>;

const block = 512;

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

function hasChecksum(header: Buffer): boolean {
  if (header.length < block) return false;
  const expected = Number.parseInt(text(header, 148, 8).trim(), 8);
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  return sum === expected;
}

function sizeOf(header: Buffer): number {
  // GNU's way to write what needs more than eleven octal digits.
  if (((header[124] as number) & 0x80) !== 0) return Number(header.readBigUInt64BE(128));
  return Number.parseInt(text(header, 124, 12).trim() || '0', 8);
}

function headerPath(header: Buffer): string {
  const prefix = text(header, 257, 5) === 'ustar' ? text(header, 345, 155) : '';
  const name = text(header, 0, 100);
  return prefix === '' ? name : `${prefix}/${name}`;
}

function paxPath(content: Buffer): string | undefined {
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const length = Number(text(content, at, space - at));
    if (space === -1 || !(length > 0)) return undefined;
    const record = content.toString('utf8', space + 1, at + length - 1);
    if (record.startsWith('path=')) return record.slice('path='.length);
    at += length;
  }
  return undefined;
}

/** The text of a field, up to its first NUL. */
function text(buffer: Buffer, at: number, length: number): string {
  const end = buffer.indexOf(0, at);
  return buffer.toString('utf8', at, end === -1 || end > at + length ? at + length : end);
}

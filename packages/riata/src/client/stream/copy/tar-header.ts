import { Buffer } from 'node:buffer';

/** One member of an archive. */
export interface TarEntry {
  /** With slashes, relative. */
  readonly path: string;
  readonly type: 'file' | 'folder' | 'symlink' | 'link' | 'other';
  /** Permissions. */
  readonly mode: number;
  /** In seconds since the epoch. */
  readonly mtime: number;
  /** Bytes of the content. */
  readonly size: number;
  /** Where a link leads. */
  readonly target: string;
}

export const blockBytes = 512;
const flags = { file: '0', link: '1', symlink: '2', folder: '5', other: '7' } as const;
const types: Readonly<Record<string, TarEntry['type']>> = {
  ...{ '0': 'file', '\0': 'file', '7': 'file', S: 'file' },
  ...{ '1': 'link', '2': 'symlink', '5': 'folder' },
};
/** What eleven octal digits can hold. */
const maxOctal = 8 ** 11 - 1;

/** The archive is malformed. */
export class TarError extends Error {
  override readonly name = 'TarError';
}

/** The header of a member (POSIX `ustar`), with a pax header before it for what does not fit. */
export function encodeHeader(entry: TarEntry): Buffer {
  const path = entry.type === 'folder' ? `${entry.path}/` : entry.path;
  const extended: Record<string, string> = {};
  if (Buffer.byteLength(path) > 100) extended.path = path;
  if (Buffer.byteLength(entry.target) > 100) extended.linkpath = entry.target;
  if (entry.size > maxOctal) extended.size = String(entry.size);
  const plain = ustar({ ...entry, path, size: Math.min(entry.size, maxOctal) }, flags[entry.type]);
  const records = Buffer.from(Object.entries(extended).map(paxRecord).join(''));
  if (records.length === 0) return plain;
  const pax = { path: 'PaxHeader', type: 'file', mode: 0o644, mtime: 0, size: records.length, target: '' } as const;
  return Buffer.concat([ustar(pax, 'x'), records, Buffer.alloc(padding(records.length)), plain]);
}

/** Zeros up to the next block. */
export function padding(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes;
}

/** A header as it stands in the archive; undefined for a block of zeros, which ends it. Throws a {@link TarError}. */
export function decodeHeader(block: Buffer): { readonly flag: string; readonly entry: TarEntry } | undefined {
  if (block.every((byte) => byte === 0)) return undefined;
  let sum = 0;
  for (let i = 0; i < blockBytes; i++) sum += i >= 148 && i < 156 ? 32 : (block[i] as number);
  if (sum !== numberAt(block, 148, 8)) throw new TarError('the archive is malformed: a header has a wrong checksum');
  const flag = String.fromCharCode(block[156] as number);
  const prefix = block.toString('latin1', 257, 262) === 'ustar' ? textAt(block, 345, 155) : '';
  const name = textAt(block, 0, 100);
  const entry = {
    path: prefix === '' ? name : `${prefix}/${name}`,
    type: types[flag] ?? 'other',
    mode: numberAt(block, 100, 8) & 0o7777,
    size: numberAt(block, 124, 12),
    mtime: numberAt(block, 136, 12),
    target: textAt(block, 157, 100),
  };
  return { flag, entry };
}

/** The records of a pax header, in order: `length key=value\n`. */
export function decodePax(bytes: Buffer): readonly (readonly [key: string, value: string])[] {
  const records: (readonly [string, string])[] = [];
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = space < 0 ? 0 : Number(bytes.toString('latin1', at, space));
    if (!Number.isInteger(length) || length <= space - at || at + length > bytes.length) {
      throw new TarError('the archive is malformed: an extended header has a wrong length');
    }
    const text = bytes.toString('utf8', space + 1, at + length - 1);
    const equals = text.indexOf('=');
    records.push([text.slice(0, equals), text.slice(equals + 1)]);
    at += length;
  }
  return records;
}

function paxRecord([key, value]: [string, string]): string {
  const body = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(body);
  // The length counts itself.
  let length = bytes + String(bytes).length;
  if (String(length).length > String(bytes).length) length += 1;
  return `${length}${body}`;
}

function ustar({ path, mode, mtime, size, target }: TarEntry, flag: string): Buffer {
  const block = Buffer.alloc(blockBytes);
  Buffer.from(path).copy(block, 0, 0, 100);
  const octal = (value: number, at: number, digits: number) =>
    block.write(`${Math.max(0, Math.floor(value)).toString(8).padStart(digits, '0')}\0`, at, 'latin1');
  octal(mode, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(size, 124, 11);
  octal(mtime, 136, 11);
  block.fill(' ', 148, 156);
  block.write(flag, 156, 'latin1');
  Buffer.from(target).copy(block, 157, 0, 100);
  block.write('ustar\x0000', 257, 'latin1');
  let sum = 0;
  for (const byte of block) sum += byte;
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

function textAt(block: Buffer, at: number, length: number): string {
  const end = block.indexOf(0, at);
  return block.toString('utf8', at, end < 0 || end > at + length ? at + length : end);
}

/** A number in a header. Throws a {@link TarError}. */
export function numberAt(block: Buffer, at: number, length: number): number {
  // GNU tar writes what does not fit in octal as a binary number, marked by the first bit.
  if ((block[at] as number) & 0x80) {
    let value = 0;
    for (let i = at + 1; i < at + length; i++) value = value * 256 + (block[i] as number);
    if (!Number.isSafeInteger(value)) throw new TarError('the archive is malformed: a number is too large');
    return value;
  }
  const text = textAt(block, at, length).trim();
  if (text !== '' && !/^[0-7]+$/.test(text)) throw new TarError('the archive is malformed: a number is not octal');
  return text === '' ? 0 : Number.parseInt(text, 8);
}

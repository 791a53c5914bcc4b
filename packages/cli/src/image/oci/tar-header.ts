/** The size of the pieces that a tar archive is made of. */
export const block = 512;

/** Whether a block is the header of an entry. */
export function hasChecksum(header: Buffer): boolean {
  if (header.length < block) return false;
  const expected = Number.parseInt(text(header, 148, 8).trim(), 8);
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  return sum === expected;
}

/** The size of an entry's content. */
export function sizeOf(header: Buffer): number {
  // GNU's way to write what needs more than eleven octal digits.
  if (((header[124] as number) & 0x80) !== 0) return Number(header.readBigUInt64BE(128));
  return Number.parseInt(text(header, 124, 12).trim() || '0', 8);
}

/** The path of an entry, if no entry before it has a longer one. */
export function headerPath(header: Buffer): string {
  const prefix = text(header, 257, 5) === 'ustar' ? text(header, 345, 155) : '';
  const name = text(header, 0, 100);
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** The path in a pax header; undefined if it has none. */
export function paxPath(content: Buffer): string | undefined {
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
export function text(buffer: Buffer, at: number, length: number): string {
  const end = buffer.indexOf(0, at);
  return buffer.toString('utf8', at, end === -1 || end > at + length ? at + length : end);
}

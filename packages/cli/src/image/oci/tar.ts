/** A file or folder of an archive that {@link tarEntry} describes. */
export interface TarEntry {
  /** Relative, with slashes; a folder's ends with one. */
  readonly path: string;
  /** @default 0o644, folders 0o755 */
  readonly mode?: number;
  /** Seconds since the epoch. @default 0 */
  readonly mtime?: number;
  /** Bytes of content that follow. @default 0 */
  readonly size?: number;
}

const block = 512;

/** The last two blocks of an archive. */
export const tarEnd: Uint8Array = new Uint8Array(2 * block);

/**
 * The header of an entry in the ustar format, with a pax header before it if the path is too long for ustar or not ASCII.
 * The same entry gives the same bytes: the owner is root, and there are no names of users or devices.
 */
export function tarHeader(entry: TarEntry): Uint8Array {
  const short = splitPath(entry.path);
  if (short !== undefined) return ustarHeader(entry, short.name, short.prefix);
  const record = Buffer.from(paxRecord('path', entry.path));
  const fallback = entry.path.replace(/[^\x20-\x7e]/g, '_').slice(-99);
  const pax = ustarHeader(
    { path: '', mode: 0o644, mtime: 0, size: record.length },
    `pax/${fallback.slice(-90)}`,
    '',
    'x',
  );
  return Buffer.concat([pax, record, tarPadding(record.length), ustarHeader(entry, fallback, '')]);
}

/** The zeros after content of this many bytes. */
export function tarPadding(size: number): Uint8Array {
  return new Uint8Array((block - (size % block)) % block);
}

/** An archive of files in memory, in the order given. */
export function tarOf(files: Iterable<TarEntry & { readonly content?: Uint8Array }>): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const { content = new Uint8Array(), ...entry } of files) {
    const size = content.byteLength;
    parts.push(tarHeader({ ...entry, size }), content, tarPadding(size));
  }
  return Buffer.concat([...parts, tarEnd]);
}

function ustarHeader(entry: TarEntry, name: string, prefix: string, type?: string): Uint8Array {
  const isFolder = entry.path.endsWith('/');
  const header = Buffer.alloc(block);
  header.write(name, 0, 100, 'latin1');
  header.write(octal(entry.mode ?? (isFolder ? 0o755 : 0o644), 8), 100, 'latin1');
  header.write(octal(0, 8), 108, 'latin1'); // uid
  header.write(octal(0, 8), 116, 'latin1'); // gid
  header.write(octal(entry.size ?? 0, 12), 124, 'latin1');
  header.write(octal(entry.mtime ?? 0, 12), 136, 'latin1');
  header.write(type ?? (isFolder ? '5' : '0'), 156, 'latin1');
  header.write('ustar\u000000', 257, 'latin1');
  header.write(prefix, 345, 155, 'latin1');
  // The checksum counts itself as spaces.
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

/** A number with its trailing NUL, in a field of this many bytes. */
function octal(value: number, width: number): string {
  const digits = value.toString(8).padStart(width - 1, '0');
  if (digits.length >= width) throw new RangeError(`tar: ${value} does not fit its field`);
  return `${digits}\0`;
}

function splitPath(path: string): { name: string; prefix: string } | undefined {
  if (!/^[\x20-\x7e]*$/.test(path)) return undefined;
  if (path.length <= 100) return { name: path, prefix: '' };
  for (let at = path.indexOf('/'); at !== -1 && at <= 155; at = path.indexOf('/', at + 1)) {
    if (at > 0 && at < path.length - 1 && path.length - at - 1 <= 100) {
      return { name: path.slice(at + 1), prefix: path.slice(0, at) };
    }
  }
  return undefined;
}

/** `LENGTH key=value\n`, where the length counts itself. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  let length = bytes + String(bytes).length;
  if (String(length).length !== String(bytes).length) length = bytes + String(length).length;
  return `${length}${rest}`;
}

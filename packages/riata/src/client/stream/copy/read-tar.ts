import { Buffer } from 'node:buffer';
import { oldSparseMap, paxSparseMap, type SparseMap, withHoles } from './sparse-map.js';
import { blockBytes, decodeHeader, decodePax, padding, type TarEntry, TarError } from './tar-header.js';

/** A member and its content, which must be read before the next one. */
export interface TarMember {
  readonly entry: TarEntry;
  readonly content: AsyncIterable<Uint8Array>;
}

/** Longer extended headers are refused. */
const maxPaxBytes = 1024 * 1024;

/**
 * The members of an archive, as its bytes come. Throws a {@link TarError} for one that is malformed, or that ends before
 * its end: an archive that was cut off is never taken for a whole one.
 */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarMember> {
  const bytes = new ByteSource(source);
  let records: (readonly [key: string, value: string])[] = [];
  while (true) {
    const block = await bytes.take(blockBytes);
    const header = decodeHeader(block);
    if (header === undefined) break;
    const { flag, entry } = header;
    if (flag === 'x' || flag === 'g' || flag === 'L' || flag === 'K') {
      if (entry.size > maxPaxBytes) throw new TarError('the archive is malformed: an extended header is too long');
      const text = await bytes.take(entry.size);
      await bytes.take(padding(entry.size));
      // GNU tar writes long names as members of their own.
      const longName = () => text.toString('utf8').replace(/\0+$/, '');
      if (flag === 'x') records.push(...decodePax(text));
      else if (flag === 'L') records.push(['path', longName()]);
      else if (flag === 'K') records.push(['linkpath', longName()]);
      continue;
    }
    const pax: Readonly<Record<string, string | undefined>> = Object.fromEntries(records);
    const stored = pax.size === undefined ? entry.size : sizeOf(pax.size);
    const take = (length: number) => bytes.take(length);
    const found = flag === 'S' ? { map: await oldSparseMap(block, take), taken: 0 } : await paxSparseMap(records, take);
    records = [];
    const path = (pax['GNU.sparse.name'] ?? pax.path ?? entry.path).replace(/\/+$/, '');
    const size = entry.type === 'file' ? (found?.map.size ?? stored) : 0;
    const left = { bytes: stored - (found?.taken ?? 0) };
    checkParts(found?.map, left.bytes);
    const data = (length: number) => contentOf(bytes, left, length);
    const content = found === undefined ? data(left.bytes) : withHoles(found.map, data);
    yield { entry: { ...entry, path, size, target: pax.linkpath ?? entry.target }, content };
    await bytes.skip(left.bytes + padding(stored));
  }
  // Nothing after the end counts, but the command that writes it must not be cut off.
  await bytes.drain();
}

async function* contentOf(bytes: ByteSource, left: { bytes: number }, length: number): AsyncGenerator<Uint8Array> {
  for (let wanted = length; wanted > 0; ) {
    const piece = await bytes.some(wanted);
    wanted -= piece.length;
    left.bytes -= piece.length;
    yield piece;
  }
}

function sizeOf(text: string): number {
  const size = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(size)) throw new TarError('the archive is malformed: a size is no number');
  return size;
}

/** The data of a sparse file must be in the archive. */
function checkParts(map: SparseMap | undefined, stored: number): void {
  const sum = map?.parts.reduce((total, { length }) => total + length, 0) ?? 0;
  if (sum > stored || stored < 0) {
    throw new TarError('the archive is malformed: a sparse file has more data than the archive');
  }
}

/** Bytes in the portions that are asked for. */
class ByteSource {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Between one and `limit` bytes. */
  async some(limit: number): Promise<Buffer> {
    if (this.#rest.length === 0 && !(await this.#more())) throw new TarError('the archive ends before its end');
    const piece = this.#rest.subarray(0, limit);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }

  async take(length: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let left = length; left > 0; ) {
      const piece = await this.some(left);
      left -= piece.length;
      pieces.push(piece);
    }
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  }

  async skip(length: number): Promise<void> {
    for (let left = length; left > 0; ) left -= (await this.some(left)).length;
  }

  async drain(): Promise<void> {
    while (await this.#more()) this.#rest = Buffer.alloc(0);
  }

  async #more(): Promise<boolean> {
    const { value, done } = await this.#source.next();
    if (done) return false;
    this.#rest = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return this.#rest.length > 0 || (await this.#more());
  }
}

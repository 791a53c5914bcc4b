import { Buffer } from 'node:buffer';
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
  let pax: Readonly<Record<string, string>> = {};
  while (true) {
    const header = decodeHeader(await bytes.take(blockBytes));
    if (header === undefined) break;
    const { flag, entry } = header;
    if (flag === 'x' || flag === 'g' || flag === 'L' || flag === 'K') {
      if (entry.size > maxPaxBytes) throw new TarError('the archive is malformed: an extended header is too long');
      const text = await bytes.take(entry.size);
      await bytes.take(padding(entry.size));
      // GNU tar writes long names as members of their own.
      const longName = () => text.toString('utf8').replace(/\0+$/, '');
      if (flag === 'x') pax = { ...pax, ...decodePax(text) };
      else if (flag === 'L') pax = { ...pax, path: longName() };
      else if (flag === 'K') pax = { ...pax, linkpath: longName() };
      continue;
    }
    const size = pax.size === undefined ? entry.size : Number(pax.size);
    const path = (pax.path ?? entry.path).replace(/\/+$/, '');
    const whole = { ...entry, path, size: entry.type === 'file' ? size : 0, target: pax.linkpath ?? entry.target };
    pax = {};
    const left = { bytes: size };
    yield { entry: whole, content: contentOf(bytes, left) };
    await bytes.skip(left.bytes + padding(size));
  }
  // Nothing after the end counts, but the command that writes it must not be cut off.
  await bytes.drain();
}

async function* contentOf(bytes: ByteSource, left: { bytes: number }): AsyncGenerator<Uint8Array> {
  while (left.bytes > 0) {
    const piece = await bytes.some(left.bytes);
    left.bytes -= piece.length;
    yield piece;
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

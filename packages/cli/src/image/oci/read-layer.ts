import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { BlobSource } from './blob.js';
import type { Descriptor } from './oci-types.js';
import { block, hasChecksum, headerPath, paxPath, sizeOf, text } from './tar-header.js';

/** A file or link of a layer. */
export interface LayerEntry {
  /** Without a leading `./` or `/`. */
  readonly path: string;
  readonly isFile: boolean;
  readonly size: number;
  /** Its content, piece by piece; what is not read is skipped. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** Whether {@link readLayer} knows how a layer is compressed. */
export function canReadLayer({ mediaType }: Descriptor): boolean {
  return /(?:\.|\+)(?:tar|tar\+gzip|tar\.gzip|gzip)$/.test(mediaType);
}

/** The entries of a layer, streamed: no layer is ever in memory as a whole. */
export async function* readLayer(
  source: BlobSource,
  layer: Descriptor,
  signal: AbortSignal | undefined,
): AsyncGenerator<LayerEntry> {
  const compressed = Readable.from(source.read(layer, { ...(signal && { signal }) }), { objectMode: false });
  const isPlain = layer.mediaType.endsWith('.tar');
  const gunzip = createGunzip();
  // A failure of one side ends the other, and reaches who reads.
  const stream = isPlain ? compressed : pipeline(compressed, gunzip, () => {});
  const bytes = new ByteReader(stream as AsyncIterable<Uint8Array>);
  let longPath: string | undefined;
  for (;;) {
    const header = await bytes.take(block);
    if (header.length < block || header.every((byte) => byte === 0)) break;
    if (!hasChecksum(header)) throw new Error(`layer ${layer.digest} is not a tar archive`);
    const type = String.fromCharCode(header[156] as number);
    const size = sizeOf(header);
    const padding = (block - (size % block)) % block;
    if (type === 'x' || type === 'L') {
      const content = await bytes.take(size);
      await bytes.skip(padding);
      longPath = type === 'L' ? text(content, 0, content.length) : (paxPath(content) ?? longPath);
      continue;
    }
    const path = (longPath ?? headerPath(header)).replace(/^(?:\.?\/)+/, '');
    longPath = undefined;
    const content = bytes.pieces(size);
    yield { path, size, content, isFile: type === '0' || type === '\0' };
    await content.rest();
    await bytes.skip(padding);
  }
  // To its end, where the digest is checked.
  await bytes.drain();
}

/** Reads exact numbers of bytes from pieces of any size. */
class ByteReader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#pieces = stream[Symbol.asyncIterator]();
  }

  /** Up to `most` bytes, at least one; undefined at the end. */
  async some(most: number): Promise<Buffer | undefined> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#pieces.next();
      if (done) return undefined;
      this.#rest = Buffer.from(value);
    }
    const taken = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(taken.length);
    return taken;
  }

  /** `length` bytes; fewer at the end. */
  async take(length: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let left = length; left > 0; ) {
      const piece = await this.some(left);
      if (piece === undefined) break;
      pieces.push(piece);
      left -= piece.length;
    }
    return Buffer.concat(pieces);
  }

  async skip(length: number): Promise<void> {
    await this.pieces(length).rest();
  }

  async drain(): Promise<void> {
    while ((await this.some(1 << 20)) !== undefined);
  }

  pieces(length: number): AsyncIterable<Uint8Array> & { rest(): Promise<void> } {
    let left = length;
    const next = async (): Promise<Buffer | undefined> => {
      if (left === 0) return undefined;
      const piece = await this.some(left);
      if (piece === undefined) throw new Error('a layer of the image is truncated');
      left -= piece.length;
      return piece;
    };
    return {
      async *[Symbol.asyncIterator]() {
        for (let piece = await next(); piece !== undefined; piece = await next()) yield piece;
      },
      async rest() {
        while ((await next()) !== undefined);
      },
    };
  }
}

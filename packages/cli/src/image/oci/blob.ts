import { createHash } from 'node:crypto';
import type { Descriptor } from './oci-types.js';

/** Content that is in memory, with the descriptor that points to it. */
export interface Blob {
  readonly descriptor: Descriptor;
  readonly content: Uint8Array;
}

/** Where the blobs of an image come from: a registry, a layout on disk, memory. */
export interface BlobSource {
  /** Streams a blob. Rejects, or throws while it is read, if the content does not have the descriptor's digest and size. */
  read(descriptor: Descriptor, options?: { readonly signal?: AbortSignal }): AsyncIterable<Uint8Array>;
}

/** The digest of content as OCI writes it. */
export function sha256(content: Uint8Array | string): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

/** Content as a blob. */
export function blobOf(mediaType: string, content: Uint8Array): Blob {
  return { descriptor: { mediaType, digest: sha256(content), size: content.byteLength }, content };
}

/** A document as a blob; the same value gives the same bytes. */
export function jsonBlob(mediaType: string, value: unknown): Blob {
  return blobOf(mediaType, Buffer.from(JSON.stringify(value)));
}

/** All of a stream in one piece. */
export async function readAll(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Passes a stream on, and throws at its end if the content is not what the descriptor says. */
export async function* verified(
  stream: AsyncIterable<Uint8Array>,
  { digest, size }: Descriptor,
): AsyncGenerator<Uint8Array> {
  if (!isSha256(digest)) throw new Error(`digest "${digest}" is not supported; only sha256 is`);
  const hash = createHash('sha256');
  let length = 0;
  for await (const piece of stream) {
    length += piece.byteLength;
    if (length > size) throw new Error(`blob ${digest} is longer than its ${size} bytes`);
    hash.update(piece);
    yield piece;
  }
  if (length !== size) throw new Error(`blob ${digest} has ${length} bytes instead of ${size}`);
  const actual = `sha256:${hash.digest('hex')}`;
  if (actual !== digest) throw new Error(`blob ${digest} is corrupt: its content has the digest ${actual}`);
}

/** Whether a digest is well-formed; a path is made of it, so nothing else may be in it. */
export function isSha256(digest: string): boolean {
  return /^sha256:[0-9a-f]{64}$/.test(digest);
}

/** Blobs in memory first, then those of another source. */
export function blobsAndThen(blobs: readonly Blob[], rest?: BlobSource): BlobSource {
  const byDigest = new Map(blobs.map((blob) => [blob.descriptor.digest, blob.content]));
  return {
    async *read(descriptor, options) {
      const content = byDigest.get(descriptor.digest);
      if (content !== undefined) yield content;
      else if (rest === undefined) throw new Error(`blob ${descriptor.digest} not found`);
      else yield* rest.read(descriptor, options);
    },
  };
}

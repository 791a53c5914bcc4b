import { readAll, sha256, verified } from '../oci/blob.js';
import { type Descriptor, isIndexType, isManifestType, mediaTypes } from '../oci/oci-types.js';
import { header } from './http-exchange.js';
import { formatImageReference, type ImageReference } from './image-reference.js';
import type { RegistryClient } from './registry-client.js';

const accepted = [mediaTypes.index, mediaTypes.manifest, mediaTypes.dockerIndex, mediaTypes.dockerManifest].join(', ');
const maxManifest = 4 << 20;

/** The right to read a repository. */
export function pullScope(repository: string): string {
  return `repository:${repository}:pull`;
}

/** Reads a manifest or index by tag or digest, and verifies it if it was asked for by digest. */
export async function pullManifest(
  client: RegistryClient,
  reference: ImageReference,
  signal?: AbortSignal,
): Promise<{ readonly descriptor: Descriptor; readonly content: Buffer }> {
  const { repository, tag = 'latest', digest } = reference;
  const name = formatImageReference(reference);
  const answer = await client.send({
    ...{ method: 'GET', path: `${repository}/manifests/${digest ?? tag}` },
    ...{ headers: { accept: accepted }, scopes: [pullScope(repository)], accept: [200], task: `pull ${name}` },
    ...(signal && { signal }),
  });
  if (Number(header(answer.headers, 'content-length') ?? 0) > maxManifest) {
    await answer.discard();
    throw new Error(`${name}: the manifest is larger than ${maxManifest} bytes`);
  }
  const content = await readAll(answer.body);
  const actual = sha256(content);
  if (digest !== undefined && actual !== digest)
    throw new Error(`${name}: the registry sent content with the digest ${actual}`);
  const mediaType = header(answer.headers, 'content-type')?.replace(/;.*$/, '').trim() ?? '';
  if (!isIndexType(mediaType) && !isManifestType(mediaType)) {
    throw new Error(`${name}: its media type "${mediaType}" is not that of an image`);
  }
  return { descriptor: { mediaType, digest: actual, size: content.byteLength }, content };
}

/** Streams a blob of a repository, verified. */
export async function* pullBlob(
  client: RegistryClient,
  repository: string,
  descriptor: Descriptor,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const answer = await client.send({
    ...{ method: 'GET', path: `${repository}/blobs/${descriptor.digest}` },
    ...{ scopes: [pullScope(repository)], accept: [200], task: `pull blob ${descriptor.digest} of ${repository}` },
    ...(signal && { signal }),
  });
  yield* verified(answer.body, descriptor);
}

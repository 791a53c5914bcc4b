import { type BlobSource, readAll } from '../oci/blob.js';
import type { Image } from '../oci/image.js';
import type { Descriptor } from '../oci/oci-types.js';
import { type HttpAnswer, header } from './http-exchange.js';
import type { RegistryClient } from './registry-client.js';
import { RegistryError } from './registry-error.js';
import { pullScope } from './registry-image.js';

/** What {@link pushImage} takes. */
export interface PushImageOptions {
  /** Repository and tags; the registry is the client's. */
  readonly repository: string;
  readonly tags: readonly string[];
  /** Another repository of the same registry that has the layers of the base, which need not be sent then. */
  readonly mountFrom?: string;
  /** Blobs that are larger are sent in pieces of this size, if the registry refuses them as a whole. @default 8 MiB */
  readonly chunkSize?: number;
  readonly signal?: AbortSignal;
  /** Called for each blob when it is there. */
  onBlob?(descriptor: Descriptor, how: BlobPush): void;
}

/** How a blob came to a registry. */
export type BlobPush = 'present' | 'mounted' | 'uploaded';

/** Blobs that are sent at once. */
const concurrency = 3;

/** Pushes blobs, then manifests, then tags: a tag never points to what is not complete. */
export async function pushImage(client: RegistryClient, image: Image, options: PushImageOptions): Promise<void> {
  const pending = [...image.blobs];
  const pushNext = async (): Promise<void> => {
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      const how = await pushBlob(client, next, image.source, options);
      options.onBlob?.(next, how);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, pushNext));
  for (const { descriptor } of image.platforms) {
    if (descriptor.digest !== image.root.digest)
      await putManifest(client, image, descriptor, descriptor.digest, options);
  }
  await putManifest(client, image, image.root, image.root.digest, options);
  for (const tag of options.tags) await putManifest(client, image, image.root, tag, options);
}

async function putManifest(
  client: RegistryClient,
  image: Image,
  descriptor: Descriptor,
  reference: string,
  options: PushImageOptions,
): Promise<void> {
  const { repository, signal } = options;
  const body = image.documents.get(descriptor.digest);
  if (body === undefined) throw new Error(`manifest ${descriptor.digest} is missing`);
  const answer = await client.send({
    ...{ method: 'PUT', path: `${repository}/manifests/${reference}`, body, scopes: scopesOf(options) },
    ...{ headers: { 'content-type': descriptor.mediaType }, accept: [201], task: `push ${repository}:${reference}` },
    ...(signal && { signal }),
  });
  await answer.discard();
}

async function pushBlob(
  client: RegistryClient,
  descriptor: Descriptor,
  source: BlobSource,
  options: PushImageOptions,
): Promise<BlobPush> {
  const { digest } = descriptor;
  const { repository, mountFrom, signal } = options;
  const common = { scopes: scopesOf(options), task: `push blob ${digest} to ${repository}`, ...(signal && { signal }) };
  const present = await client.send({
    ...{ method: 'HEAD', path: `${repository}/blobs/${digest}`, accept: [200, 404], ...common },
  });
  await present.discard();
  if (present.status === 200) return 'present';
  let content: Buffer | undefined;
  return client.retrying(async () => {
    const mount =
      mountFrom === undefined || mountFrom === repository
        ? ''
        : `?${new URLSearchParams({ mount: digest, from: mountFrom })}`;
    const path = `${repository}/blobs/uploads/${mount}`;
    const started = await client.send({ method: 'POST', path, accept: [201, 202], ...common });
    await started.discard();
    if (started.status === 201) return 'mounted';
    content ??= await readAll(source.read(descriptor, signal && { signal }));
    const session = location(client, started);
    const minimum = Number(header(started.headers, 'oci-chunk-min-length') ?? 0);
    try {
      const answer = await client.send({
        ...{ method: 'PUT', path: withDigest(session, digest), body: content, accept: [201], retry: false, ...common },
        headers: { 'content-type': 'application/octet-stream' },
      });
      await answer.discard();
    } catch (error) {
      // A proxy in front of the registry limits the size of requests.
      if (!(error instanceof RegistryError && error.status === 413)) throw error;
      await pushChunks(client, content, {
        ...options,
        digest,
        chunkSize: Math.max(options.chunkSize ?? 8 << 20, minimum),
      });
    }
    return 'uploaded';
  }, signal);
}

async function pushChunks(
  client: RegistryClient,
  content: Buffer,
  options: PushImageOptions & { readonly digest: string; readonly chunkSize: number },
): Promise<void> {
  const { repository, digest, chunkSize, signal } = options;
  const common = {
    ...{ scopes: scopesOf(options), task: `push blob ${digest} to ${repository}`, retry: false },
    ...(signal && { signal }),
  };
  const started = await client.send({ method: 'POST', path: `${repository}/blobs/uploads/`, accept: [202], ...common });
  await started.discard();
  let session = location(client, started);
  for (let at = 0; at < content.byteLength; at += chunkSize) {
    const body = content.subarray(at, at + chunkSize);
    const headers = {
      'content-type': 'application/octet-stream',
      'content-range': `${at}-${at + body.byteLength - 1}`,
    };
    const answer = await client.send({ method: 'PATCH', path: session, body, headers, accept: [202], ...common });
    await answer.discard();
    session = location(client, answer);
  }
  const answer = await client.send({ method: 'PUT', path: withDigest(session, digest), accept: [201], ...common });
  await answer.discard();
}

function scopesOf({ repository, mountFrom }: PushImageOptions): string[] {
  const own = `repository:${repository}:pull,push`;
  return mountFrom === undefined || mountFrom === repository ? [own] : [own, pullScope(mountFrom)];
}

function location(client: RegistryClient, answer: HttpAnswer): string {
  const found = header(answer.headers, 'location');
  if (found === undefined) throw new Error(`${client.registry}: answered an upload without a Location`);
  const url = new URL(found, client.url);
  if (url.protocol === 'http:' && new URL(client.url).protocol === 'https:') {
    // A registry behind a proxy that ends TLS may not know its own scheme.
    if (url.hostname !== new URL(client.url).hostname)
      throw new Error(`${client.registry}: uploads lead to ${url.origin}, which is not encrypted`);
    url.protocol = 'https:';
  }
  return url.href;
}

function withDigest(session: string, digest: string): string {
  const url = new URL(session);
  url.searchParams.set('digest', digest);
  return url.href;
}

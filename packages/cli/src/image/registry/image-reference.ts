import { isSha256 } from '../oci/blob.js';

/** The name of an image, taken apart. */
export interface ImageReference {
  /** Host and port: `registry.example.com`. Docker Hub's is `docker.io`. */
  readonly registry: string;
  /** `team/site-operator` */
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
}

const host =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])(?::\d{1,5})?$/;
const part = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/;
const tagForm = /^\w[\w.-]{0,127}$/;

/**
 * Takes an image name apart as Docker does: a first part without a dot, a colon or `localhost` belongs to Docker Hub.
 * Without tag and digest, both are undefined.
 */
export function parseImageReference(name: string): ImageReference {
  const problem = (text: string) => new Error(`image "${name}": ${text}`);
  const [beforeDigest = '', digest, ...more] = name.split('@');
  if (more.length > 0 || (digest !== undefined && !isSha256(digest))) {
    throw problem('the digest must be sha256: and 64 hexadecimal digits');
  }
  const colon = beforeDigest.lastIndexOf(':');
  const hasTag = colon > beforeDigest.lastIndexOf('/');
  const path = hasTag ? beforeDigest.slice(0, colon) : beforeDigest;
  const tag = hasTag ? beforeDigest.slice(colon + 1) : undefined;
  if (tag !== undefined && !tagForm.test(tag)) throw problem(`tag "${tag}" is invalid`);
  const [first = '', ...rest] = path.split('/');
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  if (isHost && !host.test(first)) throw problem(`registry "${first}" is invalid`);
  const parts = isHost ? rest : [first, ...rest];
  if (!parts.every((each) => part.test(each))) {
    throw problem('the repository must be lower-case letters, digits and separators, e.g. team/site-operator');
  }
  const registry = isHost && first !== 'index.docker.io' ? first : 'docker.io';
  return {
    registry,
    repository: registry === 'docker.io' && parts.length === 1 ? `library/${parts[0]}` : parts.join('/'),
    ...(tag !== undefined && { tag }),
    ...(digest !== undefined && { digest }),
  };
}

/** The full name of an image. */
export function formatImageReference({ registry, repository, tag, digest }: ImageReference): string {
  return `${registry}/${repository}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
}

/** Where a registry's API is. Plain HTTP is for registries on this machine alone. */
export function registryUrl(registry: string): string {
  if (registry === 'docker.io') return 'https://registry-1.docker.io';
  return `${isLoopback(registry) ? 'http' : 'https'}://${registry}`;
}

/** Whether a host, with or without port, is this machine. */
export function isLoopback(hostAndPort: string): boolean {
  const name = hostAndPort.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  return name === 'localhost' || name === '::1' || /^127\.\d+\.\d+\.\d+$/.test(name);
}

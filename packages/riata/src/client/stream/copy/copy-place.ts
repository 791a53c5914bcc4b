/** A file or folder on this machine. */
export interface LocalPlace {
  readonly local: string;
}

/** A file or folder in a container. */
export interface PodPlace {
  readonly pod: { readonly namespace?: string; readonly name: string };
  readonly path: string;
  /** @default the Pod's only container */
  readonly container?: string;
}

/** A file or folder on this machine, to be copied into a container. */
export function fromLocal(path: string): LocalPlace {
  return { local: path };
}

/** The path on this machine that the copy of something in a container gets. */
export function toLocal(path: string): LocalPlace {
  return { local: path };
}

/** A file or folder in a container: what is copied, or the path that the copy gets. The path must be absolute. */
export function inPod(
  pod: { readonly namespace?: string; readonly name: string },
  path: string,
  { container }: { readonly container?: string } = {},
): PodPlace {
  if (!path.startsWith('/') || /(^|\/)\.\.?(\/|$)/.test(path)) {
    throw new TypeError(`inPod: the path must be absolute, without "." and "..", got ${JSON.stringify(path)}`);
  }
  const plain = path.replace(/\/+/g, '/').replace(/(.)\/$/, '$1');
  if (plain === '/') throw new TypeError('inPod: the root of a container cannot be copied; name a file or folder');
  const { namespace, name } = pod;
  return { pod: { ...(namespace !== undefined && { namespace }), name }, path: plain, ...(container && { container }) };
}

/** Segments of which none is empty or begins with a dot: there is nothing to tidy. */
const tidy = /^\/?[^/.][^/]*(?:\/[^/.][^/]*)*$/;

/** Joins pieces with `/` and tidies the outcome as Go's `path.Join` does: no empty, `.` or needless `..` parts. */
export function joinPath(...pieces: readonly string[]): string {
  let joined = '';
  for (const piece of pieces) if (piece !== '') joined += joined === '' ? piece : `/${piece}`;
  if (joined === '' || tidy.test(joined)) return joined;
  const rooted = joined.startsWith('/');
  const parts: string[] = [];
  for (const part of joined.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!rooted) parts.push(part);
  }
  return (rooted ? '/' : '') + parts.join('/') || '.';
}

/**
 * Why a name cannot stand as one segment of a path, or undefined (`rest.IsValidPathSegmentName`): it would reach
 * another resource than the one meant.
 */
export function pathSegmentProblem(name: string): string | undefined {
  if (name === '.' || name === '..') return `may not be '${name}'`;
  const found = ['/', '%'].filter((illegal) => name.includes(illegal));
  return found.length === 0 ? undefined : found.map((illegal) => `may not contain '${illegal}'`).join(', ');
}

/** What needs no escaping, as nearly always. */
const plainPath = /^[A-Za-z0-9._~$&+,:;=@/-]*$/;
const plainPart = /^[A-Za-z0-9._~-]*$/;

/** Percent-encodes a path as Go's `net/url` does: slashes and `$&+,:;=@` stay. */
export function escapePath(path: string): string {
  if (plainPath.test(path)) return path;
  return encode(path).replace(/%(24|26|2B|2C|2F|3A|3B|3D|40)/g, (found) => decodeURIComponent(found));
}

/** Query parameters: each name once, with its value or values. */
export type QueryParams = Iterable<readonly [name: string, value: string | readonly string[]]>;

/** A query string as Go's `url.Values.Encode` writes it: sorted by name, values in order, a space as `+`. */
export function encodeQuery(params: QueryParams): string {
  let query = '';
  for (const [name, value] of [...params].sort(byName)) {
    const values = typeof value === 'string' ? [value] : value;
    for (const one of values) query += `${query && '&'}${encodeQueryPart(name)}=${encodeQueryPart(one)}`;
  }
  return query;
}

/** A server-relative URI taken apart and decoded, as `RequestURI` takes it. Throws a `URIError` on broken escapes. */
export function parseRequestUri(uri: string): { path: string; params: Map<string, string[]> } {
  const relative = uri.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').replace(/#.*$/s, '');
  const mark = relative.indexOf('?');
  const params = new Map<string, string[]>();
  for (const pair of mark < 0 ? [] : relative.slice(mark + 1).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals), 'query', '+');
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1), 'query', '+');
    params.set(name, [...(params.get(name) ?? []), value]);
  }
  return { path: decode(mark < 0 ? relative : relative.slice(0, mark), 'path'), params };
}

/**
 * A path with what names single objects taken out, for logs and metrics (`finalURLTemplate`): `/api/v1/namespaces/shop/pods/cart` becomes
 * `/api/v1/namespaces/{namespace}/pods/{name}`. A path outside `/api` and `/apis` is `/{prefix}`.
 */
export function pathTemplate(path: string, basePath = ''): string {
  const base = basePath.replace(/\/+$/, '');
  const inner = path.startsWith(`${base}/`) ? path.slice(base.length) : path;
  const segments = inner.split('/').slice(1);
  if (segments.length <= 1) return path;
  const first = { api: 2, apis: 3 }[segments[0] ?? ''];
  if (first === undefined) return '/{prefix}';
  const rest = segments.slice(first);
  const isSubresource = (at: number) => rest[at] === 'status' || rest[at] === 'finalize';
  if (rest.length === 2) rest[1] = '{name}';
  else if (rest.length === 3) rest[1] = isSubresource(2) ? '{name}' : '{namespace}';
  else if (rest.length >= 4) {
    rest[1] = '{namespace}';
    if (!isSubresource(3)) rest[3] = '{name}';
  }
  return `${base}/${[...segments.slice(0, first), ...rest].join('/')}`;
}

function encodeQueryPart(text: string): string {
  return plainPart.test(text) ? text : encode(text).replaceAll('%20', '+');
}

/** `space` stands for one. What cannot be decoded stays out of the message: it may be a secret. */
function decode(text: string, part: 'path' | 'query', space = ' '): string {
  try {
    return decodeURIComponent(text.replaceAll(space, ' '));
  } catch (cause) {
    throw new URIError(`requestURI: the ${part} holds a "%" that begins no escape of UTF-8; write a bare one as %25`, {
      cause,
    });
  }
}

function encode(text: string): string {
  // Half a surrogate pair has no UTF-8 form; encodeURIComponent would throw on it.
  const wellFormed = text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');
  return encodeURIComponent(wellFormed).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

import { builtinScheme } from 'riata/kinds';
import { formatKey, type KindRef } from 'riata/object';
import { optionNames, refuseUnknownOptions } from 'riata/runtime';

/** The verbs of RBAC. */
export type RequestVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** The target of a request, read from its method and path, in the words of RBAC. */
export interface RequestTarget {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`. */
  readonly verb: string;
  /** E.g. `Deployment`; the plural if the kind is not known here, `''` for discovery, health and the like. */
  readonly kind: string;
  /** `''` for the core group. */
  readonly group: string;
  readonly version: string;
  readonly namespace?: string;
  /** Of a `create`, what the body says. */
  readonly name?: string;
  /** `status`, `scale`, … */
  readonly subresource?: string;
  /** `ConfigMap shop/cart`, `Widget shop/w/status`; the path for non-resource requests. */
  readonly object: string;
  readonly isDryRun: boolean;
}

/** A filter of requests: every given field must match. */
export interface RequestMatch {
  /** The name of a manager or connection. @default any */
  readonly client?: string;
  /** One verb, or `write` for all that change something, or `read` for the others. @default any */
  readonly verb?: RequestVerb | 'write' | 'read' | (string & {});
  /** @default any */
  readonly kind?: KindRef | string;
  readonly namespace?: string;
  readonly name?: string;
  /** `''`: of the object itself only. @default any, or none */
  readonly subresource?: string;
}

export const requestMatchOptionNames = optionNames<RequestMatch>({
  client: true,
  verb: true,
  kind: true,
  namespace: true,
  name: true,
  subresource: true,
});

const verbs: Readonly<Record<string, string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};
const writes: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
const known: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'read', 'write', ...writes]);

/** True for a verb that changes something. */
export function isWriteVerb(verb: string): boolean {
  return writes.has(verb);
}

/** A filter that no request can match is a mistake: a test would pass silently. */
export function refuseUnknown(match: RequestMatch, what: string): void {
  refuseUnknownOptions(what, match, requestMatchOptionNames);
  if (match.verb === undefined || known.has(match.verb)) return;
  throw new TypeError(`${what}: expected a verb out of ${[...known].join(', ')}; got ${JSON.stringify(match.verb)}`);
}

/** Whether a request matches. */
export function matches(target: RequestTarget & { readonly client: string }, match: RequestMatch): boolean {
  const { client, verb, kind, namespace, name, subresource } = match;
  if (client !== undefined && client !== target.client) return false;
  if (verb === 'write' || verb === 'read') {
    if (isWriteVerb(target.verb) !== (verb === 'write')) return false;
  } else if (verb !== undefined && verb !== target.verb) return false;
  if (typeof kind === 'string' && kind !== target.kind) return false;
  if (kind !== undefined && typeof kind !== 'string' && (kind.kind !== target.kind || kind.group !== target.group)) {
    return false;
  }
  if (namespace !== undefined && namespace !== target.namespace) return false;
  if (name !== undefined && name !== target.name) return false;
  return subresource === undefined || subresource === (target.subresource ?? '');
}

/** Reads requests; knows the built-in kinds and those that were added. */
export class RequestReader {
  /** By `group/plural`. */
  readonly #kinds = new Map<string, string>();

  constructor(kinds: Iterable<KindRef> = []) {
    this.learn(builtinScheme().kinds());
    this.learn(kinds);
  }

  learn(kinds: Iterable<Pick<KindRef, 'group' | 'plural' | 'kind'>>): void {
    for (const { group, plural, kind } of kinds) this.#kinds.set(`${group}/${plural}`, kind);
  }

  /** `path` with its query. */
  read(method: string, path: string, body?: Uint8Array | string): RequestTarget {
    const [plain = '', asked] = path.split('?', 2);
    const query = new URLSearchParams(asked);
    const segments = plain.split('/').filter((segment) => segment !== '');
    const isCore = segments[0] === 'api';
    const rest = segments.slice(isCore ? 2 : 3);
    const isDryRun = query.has('dryRun');
    if ((!isCore && segments[0] !== 'apis') || rest.length === 0) {
      return { verb: verbs[method] ?? method.toLowerCase(), kind: '', group: '', version: '', object: plain, isDryRun };
    }
    const group = isCore ? '' : (segments[1] ?? '');
    const version = segments[isCore ? 1 : 2] ?? '';
    const { namespace, plural, named, subresource } = placeOf(rest.map(decodeURIComponent));
    const kind = this.#kinds.get(`${group}/${plural}`) ?? plural;
    const verb = verbOf(method, named !== undefined, query);
    const name = named ?? (verb === 'create' ? nameIn(body) : undefined);
    const object = [
      kind,
      name === undefined ? (namespace ?? '') : formatKey({ namespace, name }) + (subresource ? `/${subresource}` : ''),
    ];
    return {
      ...{ verb, kind, group, version, object: object.join(' ').trimEnd(), isDryRun },
      ...(namespace !== undefined && { namespace }),
      ...(name !== undefined && { name }),
      ...(subresource !== undefined && { subresource }),
    };
  }
}

/** The plural in a path; undefined for non-resource paths. */
export function resourceIn(path: string): string | undefined {
  const segments = (path.split('?', 1)[0] ?? '').split('/').filter((segment) => segment !== '');
  const rest = segments.slice(segments[0] === 'api' ? 2 : 3);
  if ((segments[0] !== 'api' && segments[0] !== 'apis') || rest.length === 0) return undefined;
  return placeOf(rest.map(decodeURIComponent)).plural;
}

function placeOf(parts: readonly string[]) {
  // `namespaces/shop`, `namespaces/shop/status` are about the namespace itself.
  const isWithin = parts[0] === 'namespaces' && parts.length > 2 && !['status', 'finalize'].includes(parts[2] ?? '');
  const namespace = isWithin ? parts[1] : undefined;
  const [plural = '', named, subresource] = isWithin ? parts.slice(2) : parts;
  return { namespace, plural, named, subresource };
}

function verbOf(method: string, isNamed: boolean, query: URLSearchParams): string {
  const verb = verbs[method] ?? method.toLowerCase();
  if (isNamed) return verb;
  if (verb === 'get') return ['true', '1'].includes(query.get('watch') ?? '') ? 'watch' : 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
}

function nameIn(body: Uint8Array | string | undefined): string | undefined {
  try {
    const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
    const { name, generateName } = (JSON.parse(text) as { metadata?: { name?: string; generateName?: string } })
      .metadata ?? { name: undefined };
    return name ?? (generateName === undefined ? undefined : `${generateName}*`);
  } catch {
    return undefined;
  }
}

import { splitApiVersion } from 'riata/object';
import { once } from '../../once.js';
import { builtInResourcesText } from '../generated/built-in-resources.js';

/** A subresource, e.g. `status`. */
export interface BuiltInSubresource {
  readonly name: string;
  /** The kind of request and response: the resource's own, or e.g. `autoscaling/v1` `Scale`. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** A resource in one version of its group. */
export interface BuiltInResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Sorted; a resource that takes only `create` (reviews, bindings) stores nothing. */
  readonly verbs: readonly string[];
  readonly subresources: readonly BuiltInSubresource[];
  /** The storage version hash in discovery; undefined for resources that are not stored. */
  readonly storageVersionHash: string | undefined;
  /** Resources with the same key share their objects, each in its own version. */
  readonly storageKey: string;
}

/** A version of an API group with its resources. */
export interface BuiltInGroupVersion {
  readonly group: string;
  readonly version: string;
  /** False for alpha and beta versions, which a server serves only on request. */
  readonly servedByDefault: boolean;
  /** The Go package of its types, e.g. `apps/v1`. */
  readonly typesPackage: string;
  readonly resources: readonly BuiltInResource[];
}

const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/**
 * Every resource of Kubernetes v1.36, by group and version in the order of discovery: the core group first, and the
 * preferred version of each group first.
 */
export const builtInGroupVersions = once((): readonly BuiltInGroupVersion[] => parse(builtInResourcesText));

type Draft<T> = { -readonly [K in keyof T]: T[K] };

/** Parses lines of three depths: group version, resource, subresource. */
function parse(text: string): BuiltInGroupVersion[] {
  const found: BuiltInGroupVersion[] = [];
  let resources: BuiltInResource[] = [];
  let subresources: BuiltInSubresource[] = [];
  let at = { group: '', version: '' };
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const words = line.trim().split(' ');
    if (line.startsWith('    /')) subresources.push(subresourceOf(words, at));
    else if (line.startsWith('  ')) {
      subresources = [];
      resources.push({ ...resourceOf(words, at), subresources });
    } else {
      resources = [];
      at = splitApiVersion(words[0] as string);
      found.push({
        ...at,
        servedByDefault: /^v\d+$/.test(at.version),
        typesPackage: (words[1] as string).slice('types='.length),
        resources,
      });
    }
  }
  return found;
}

function resourceOf(words: readonly string[], at: { group: string; version: string }): BuiltInResource {
  const [plural, kind, scope, verbs, ...facts] = words as [string, string, string, string, ...string[]];
  const resource: Draft<BuiltInResource> = {
    ...at,
    kind,
    plural,
    singular: kind.toLowerCase(),
    namespaced: scope === 'namespaced',
    shortNames: [],
    categories: [],
    verbs: verbsOf(verbs),
    subresources: [],
    storageVersionHash: undefined,
    // Events of both groups share one table.
    storageKey: plural === 'events' ? '/events' : `${at.group}/${plural}`,
  };
  for (const fact of facts) {
    const [name, value] = [fact.slice(0, fact.indexOf('=')), fact.slice(fact.indexOf('=') + 1)];
    if (name === 'singular') resource.singular = value;
    else if (name === 'short') resource.shortNames = value.split(',');
    else if (name === 'categories') resource.categories = value.split(',');
    else if (name === 'hash') resource.storageVersionHash = value;
  }
  return resource;
}

function subresourceOf(words: readonly string[], at: { group: string; version: string }): BuiltInSubresource {
  const [path, kind, verbs] = words as [string, string, string];
  const dot = kind.lastIndexOf('.');
  const home = dot === -1 ? at : splitApiVersion(kind.slice(0, dot));
  return { name: path.slice(1), ...home, kind: kind.slice(dot + 1), verbs: verbsOf(verbs) };
}

function verbsOf(text: string): readonly string[] {
  return text === '*' ? allVerbs : text === 'none' ? [] : text.split(',');
}

import { type JsonObject, type LabelSelector, selectorFrom, splitApiVersion } from 'riata/object';
import { shownAs } from '../../resource/custom/in-version.js';
import { isGiven, recordOf, textOf } from '../../resource/metadata.js';
import type { Resource } from '../../resource/resource.js';
import type { ResourceTable } from '../../resource/resource-table.js';
import type { Storage } from '../../storage/storage.js';

/** A policy or binding is misconfigured; the message is upstream's. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** Dependencies for finding params. */
export interface ParamsParts {
  readonly storage: Storage;
  readonly served: ResourceTable;
}

/**
 * The resource that a policy takes its params from; undefined for a policy that has none. Throws a {@link
 * ConfigurationError}.
 */
export function paramResource(spec: JsonObject, { served }: ParamsParts): Resource | undefined {
  if (!isGiven(spec.paramKind)) return undefined;
  const { apiVersion, kind } = recordOf(spec.paramKind);
  const { group, version } = splitApiVersion(textOf(apiVersion));
  const found = served.resources(group, version).find((resource) => resource.kind === kind);
  if (found !== undefined) return found;
  const shown = `${group}/${version}, Kind=${textOf(kind)}`;
  throw new ConfigurationError(`failed to find resource referenced by paramKind: '${shown}'`);
}

/**
 * The params that a binding selects for a request in a namespace, in the order of their names; undefined is one of them
 * if the policy is to be run without params. Throws a {@link ConfigurationError}.
 */
export function collectParams(
  resource: Resource | undefined,
  { paramRef }: JsonObject,
  requestNamespace: string,
  { storage }: ParamsParts,
): readonly (JsonObject | undefined)[] {
  if (resource === undefined || !isGiven(paramRef)) return [undefined];
  const ref = recordOf(paramRef);
  const [name, ownNamespace] = [textOf(ref.name), textOf(ref.namespace)];
  const isNamespaced = resource.scope === 'Namespaced';
  const namespace = ownNamespace === '' ? requestNamespace : ownNamespace;
  if (isNamespaced && namespace === '') {
    throw new ConfigurationError(
      'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    );
  }
  if (!isNamespaced && ownNamespace !== '') {
    throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  const prefix = isNamespaced ? `${namespace}/` : '';
  const found = name === '' ? selected(storage, resource, prefix, ref) : named(storage, resource, prefix + name);
  if (found.length === 0 && ref.parameterNotFoundAction === 'Deny') {
    throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
  }
  return found;
}

function named(storage: Storage, resource: Resource, key: string): readonly JsonObject[] {
  const stored = storage.get(resource.table, key);
  return stored === undefined ? [] : [shownAs(stored.object, resource) as unknown as JsonObject];
}

function selected(storage: Storage, resource: Resource, prefix: string, ref: JsonObject): readonly JsonObject[] {
  const selector = selectorFrom(recordOf(ref.selector) as unknown as LabelSelector);
  const range = prefix === '' ? {} : { prefix };
  return storage
    .list(resource.table, range)
    .items.filter(({ object }) => selector.matches(object.metadata.labels ?? {}))
    .map(({ object }) => shownAs(object, resource) as unknown as JsonObject);
}

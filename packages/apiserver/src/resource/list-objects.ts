import type { FieldSelector, JsonObject, KubeList, KubeObject, ListMeta, Selector } from 'riata/object';
import { badRequest, expired, tooLargeResourceVersion } from '../status/refusal.js';
import type { Steps } from '../steps.js';
import { CompactedError, type ListPage, type Storage, type Stored } from '../storage/storage.js';
import { type ContinueToken, readContinueToken, writeContinueToken } from './continue-token.js';
import { converted } from './custom/conversion-steps.js';
import { shownAs } from './custom/in-version.js';
import { withConversions } from './custom/stored-conversions.js';
import type { Resource } from './resource.js';

/** Selects objects, as parsed from the query. */
export interface Choice {
  readonly namespace: string;
  readonly labels?: Selector;
  readonly fields?: FieldSelector;
  /** Set when the path or a field selector names one object. */
  readonly name?: string;
}

/** Options of a list. */
export interface ListRequest extends Choice {
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;
}

/** A list with its items in storage form. */
export interface FoundList {
  /** The list without its items. */
  readonly head: { readonly kind: string; readonly apiVersion: string; readonly metadata: ListMeta };
  readonly found: readonly Stored[];
}

/**
 * Finds objects at the requested revision, ready to be shown. If a webhook converts them, all of them are sent in one
 * review.
 */
export function* findSteps(storage: Storage, resource: Resource, request: ListRequest): Steps<FoundList> {
  const list = yield* withConversions(() => findObjects(storage, resource, request));
  yield* converted(list.found, resource);
  return list;
}

/** Like {@link findSteps}, for kinds without a conversion webhook. */
export function findObjects(storage: Storage, resource: Resource, request: ListRequest): FoundList {
  const token = request.continue ? readContinueToken(request.continue) : undefined;
  const page = readPage(storage, resource, request, token);
  const last = page.items.at(-1);
  const selects = !(request.labels?.isEmpty() ?? true) || !(request.fields?.isEmpty() ?? true);
  const after = last?.key.slice(prefixOf(request).length);
  const next = page.more && after !== undefined ? writeContinueToken({ revision: page.revision, after }) : undefined;
  const metadata = {
    resourceVersion: String(page.revision),
    // Lists of custom kinds always have this field.
    ...(next === undefined && resource.builtIn ? {} : { continue: next ?? '' }),
    ...(next === undefined || selects ? {} : { remainingItemCount: page.remaining }),
  };
  return { head: { kind: resource.listKind, apiVersion: resource.apiVersion, metadata }, found: page.items };
}

/** The whole list. */
export function wholeList(resource: Resource, { head, found }: FoundList): KubeList<KubeObject> {
  return { ...head, items: found.map((stored) => asItem(resource, stored.object)) };
}

/** An object as an item of a list. */
function asItem(resource: Resource, object: KubeObject): KubeObject {
  const shown = shownAs(object, resource);
  if (!resource.builtIn) return shown;
  const { apiVersion: _a, kind: _k, ...rest } = shown;
  return rest as KubeObject;
}

/** The prefix of the objects' keys. */
function prefixOf({ namespace }: Choice): string {
  return namespace === '' ? '' : `${namespace}/`;
}

function readPage(
  storage: Storage,
  resource: Resource,
  request: ListRequest,
  token: ContinueToken | undefined,
): ListPage {
  const prefix = prefixOf(request);
  const filter = filterOf(resource, request);
  if (filter !== undefined) resource.conversions?.need(storage.list(resource.table, { prefix }).items);
  const range = { prefix, filter, limit: request.limit || undefined };
  if (token === undefined) return storage.list(resource.table, { ...range, revision: revisionFor(storage, request) });
  if (request.resourceVersion && request.resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  if (token.revision > storage.revision) throw tooLargeResourceVersion(String(token.revision), storage.revision);
  try {
    const revision = token.revision < 0 ? undefined : token.revision;
    return storage.list(resource.table, { ...range, after: `${prefix}${token.after}`, revision });
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    const fresh = writeContinueToken({ revision: -1, after: token.after });
    throw expired(
      'The provided continue parameter is too old to display a consistent list result. You can start a new list ' +
        'without the continue parameter, or use the continue token in this response to retrieve the remainder of the ' +
        'results. Continuing with the provided token results in an inconsistent list - objects that were created, ' +
        'modified, or deleted between the time the first chunk was returned and now may show up in the list.',
      fresh,
    );
  }
}

/** The revision to read at; undefined for the current one. Only exact matches read the past. */
function revisionFor(storage: Storage, request: ListRequest): number | undefined {
  const { resourceVersion = '', resourceVersionMatch } = request;
  if (resourceVersion === '' || resourceVersion === '0') return undefined;
  const asked = Number(resourceVersion);
  if (asked > storage.revision) throw tooLargeResourceVersion(resourceVersion, storage.revision);
  const exact = resourceVersionMatch === 'Exact' || (resourceVersionMatch === undefined && Boolean(request.limit));
  if (!exact) return undefined;
  if (asked < storage.compacted) {
    throw expired(`The resourceVersion for the provided list is too old.`);
  }
  return asked;
}

/** A filter for the selectors. */
function filterOf(resource: Resource, choice: Choice): ((stored: Stored) => boolean) | undefined {
  const { labels, fields, name } = choice;
  if ((labels?.isEmpty() ?? true) && (fields?.isEmpty() ?? true) && name === undefined) return undefined;
  return matcherOf(resource, choice);
}

/** A filter for the selected objects. */
export function matcherOf(resource: Resource, choice: Choice): (stored: Stored) => boolean {
  const { labels, name, namespace } = choice;
  const fields = choice.fields?.isEmpty() ? undefined : choice.fields;
  const { conversions } = resource;
  return ({ object }) => {
    // A conversion webhook may change labels and annotations.
    const { metadata } = conversions === undefined ? object : (resource.content?.(object) ?? object);
    if (namespace !== '' && metadata.namespace !== namespace) return false;
    if (name !== undefined && metadata.name !== name) return false;
    if (labels !== undefined && !labels.matches(metadata.labels ?? {})) return false;
    if (fields === undefined) return true;
    const own = resource.rules.fields?.((resource.content?.(object) ?? object) as unknown as JsonObject) ?? {};
    const { name: objectName, namespace: objectNamespace = '' } = metadata;
    return fields.matches({ ...own, 'metadata.name': objectName, 'metadata.namespace': objectNamespace });
  };
}

import { fieldSelectorFrom } from '../object/field-selector.js';
import { selectorFrom } from '../object/label-selector.js';
import type { LabelSelector } from '../object/meta.js';
import type {
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  Selection,
  WatchOptions,
  WriteOptions,
} from './options.js';

type Params = Record<string, string>;

/** The query of a get. */
export function getParams({ resourceVersion }: GetOptions): Params {
  return resourceVersion === undefined ? {} : { resourceVersion };
}

/** The query of a list, and of a deletion of many. */
export function listParams(options: ListOptions): Params {
  const params = selectionParams(options);
  if (options.limit !== undefined) params.limit = String(options.limit);
  if (options.continue) params.continue = options.continue;
  if (options.resourceVersion !== undefined) params.resourceVersion = options.resourceVersion;
  if (options.resourceVersionMatch) params.resourceVersionMatch = options.resourceVersionMatch;
  return params;
}

/** The query of a watch. */
export function watchParams(options: WatchOptions): Params {
  const params = selectionParams(options);
  params.allowWatchBookmarks = String(options.allowWatchBookmarks ?? true);
  if (options.resourceVersion !== undefined) params.resourceVersion = options.resourceVersion;
  if (options.resourceVersionMatch) params.resourceVersionMatch = options.resourceVersionMatch;
  if (options.timeoutSeconds !== undefined) params.timeoutSeconds = String(options.timeoutSeconds);
  if (options.sendInitialEvents !== undefined) {
    params.sendInitialEvents = String(options.sendInitialEvents);
    // The server wants both or neither.
    params.resourceVersionMatch = 'NotOlderThan';
  }
  return params;
}

/** The query of a write. */
export function writeParams(options: WriteOptions & Pick<PatchOptions, 'force'>): Params {
  const params: Params = {};
  if (options.dryRun) params.dryRun = 'All';
  if (options.fieldManager) params.fieldManager = options.fieldManager;
  if (options.fieldValidation) params.fieldValidation = options.fieldValidation;
  if (options.force !== undefined) params.force = String(options.force);
  return params;
}

/** The `DeleteOptions` object that a deletion sends; undefined when there is nothing to say. */
export function deleteBody(options: DeleteOptions): object | undefined {
  const { gracePeriodSeconds, preconditions, propagationPolicy } = options;
  const dryRun = options.dryRun ? ['All'] : undefined;
  if ([gracePeriodSeconds, preconditions, propagationPolicy, dryRun].every((o) => o === undefined)) return undefined;
  const names = { apiVersion: 'v1', kind: 'DeleteOptions' };
  return { ...names, gracePeriodSeconds, preconditions, propagationPolicy, dryRun };
}

function selectionParams({ labelSelector, fieldSelector }: Selection): Params {
  const params: Params = {};
  const labels = typeof labelSelector === 'object' ? textOf(labelSelector) : labelSelector;
  if (labels) params.labelSelector = labels;
  const fields = typeof fieldSelector === 'object' ? fieldSelectorFrom(fieldSelector).toString() : fieldSelector;
  if (fields) params.fieldSelector = fields;
  return params;
}

/** A parsed selector prints itself; a selector object has to be turned into one first. */
function textOf(selector: Exclude<Selection['labelSelector'], string | undefined>): string {
  const prints = selector.toString !== Object.prototype.toString;
  return prints ? selector.toString() : selectorFrom(selector as LabelSelector).toString();
}

import { isJsonObject } from '../../object/json.js';
import type { LabelSelector } from '../../object/meta.js';
import { type FieldSelector, fieldSelectorFrom } from '../../object/selector/field-selector.js';
import { type Selector, selectorFrom } from '../../object/selector/label-selector.js';
import { describeValue } from '../../object/with-metadata.js';
import type {
  CallOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  Selection,
  WatchOptions,
  WriteOptions,
} from '../options.js';

type Params = Record<string, string>;

/** What every operation takes over from its call. */
export function callOf({ signal, maxRetries, span }: CallOptions): CallOptions {
  return { signal, maxRetries, span };
}

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
    // The server requires both or neither.
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
  const labels = typeof labelSelector === 'object' ? labelText(labelSelector) : labelSelector;
  if (labels) params.labelSelector = labels;
  const fields = typeof fieldSelector === 'object' ? fieldText(fieldSelector) : fieldSelector;
  if (fields) params.fieldSelector = fields;
  return params;
}

/** A parsed selector prints itself; a map of labels or a selector object has to be turned into one first. */
function labelText(selector: Exclude<NonNullable<Selection['labelSelector']>, string>): string {
  refuseNoMap(selector, 'labelSelector', 'labels');
  if (isParsed(selector)) return selector.toString();
  const entries = Object.entries(selector);
  // The members of a selector object are no strings, so that a label may have their names.
  if (entries.length > 0 && entries.every(([, value]) => typeof value === 'string')) {
    return selectorFrom({ matchLabels: selector as Readonly<Record<string, string>> }).toString();
  }
  const stray = entries.map(([key]) => key).filter((key) => key !== 'matchLabels' && key !== 'matchExpressions');
  // Without this, a mistake would select everything, in a deletion too.
  if (stray.length > 0) {
    throw new TypeError(
      `labelSelector: expected a map of labels, or matchLabels and matchExpressions, got ` +
        `${stray.map((key) => JSON.stringify(key)).join(', ')} whose values are not all strings`,
    );
  }
  return selectorFrom(selector as LabelSelector).toString();
}

function fieldText(selector: Readonly<Record<string, string>> | FieldSelector): string {
  refuseNoMap(selector, 'fieldSelector', 'fields');
  return isParsed(selector)
    ? selector.toString()
    : fieldSelectorFrom(selector as Readonly<Record<string, string>>).toString();
}

function refuseNoMap(selector: unknown, option: string, of: string): void {
  if (isJsonObject(selector)) return;
  throw new TypeError(
    `${option}: expected a text, a map of ${of} or a parsed selector, got ${describeValue(selector)}`,
  );
}

/** By its method, which no JSON has. */
function isParsed(selector: object): selector is Selector | FieldSelector {
  return typeof (selector as { matches?: unknown }).matches === 'function';
}

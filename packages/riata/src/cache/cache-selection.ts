import { listParams } from '../client/operation/params.js';
import type { ListOptions } from '../client/options.js';
import type { KubeObject } from '../object/meta.js';
import { type FieldSelector, parseFieldSelector } from '../object/selector/field-selector.js';
import { parseSelector, type Selector } from '../object/selector/label-selector.js';
import type { IndexReader } from './store/indexer.js';
import { namespaceIndex } from './store/key-func.js';
import { filedUnder } from './store/store-index.js';

/** Which objects are meant, parsed. */
export interface ParsedSelection {
  readonly namespace: string | undefined;
  readonly labels: Selector;
  readonly fields: FieldSelector;
}

type Given = Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>;

/** Throws on a selector that makes no sense. */
export function parseSelection({ namespace, labelSelector, fieldSelector }: Given): ParsedSelection {
  return { namespace: namespace || undefined, labels: labelsOf(labelSelector), fields: fieldsOf(fieldSelector) };
}

/** The name of the index that stands for a field. */
export function fieldIndex(field: string): string {
  return `field:${field}`;
}

/** The objects that match. Where an index leaves fewer to look at, it is used. */
export function select<T extends KubeObject>(reader: IndexReader<T>, selection: ParsedSelection, limit?: number): T[] {
  const { labels } = selection;
  if (labels.selectsNothing) return [];
  const indexers = reader.getIndexers();
  const index = indexFor(reader, selection);
  const found = index === undefined ? reader.list() : reader.byIndex(index.name, index.value);
  const isWanted = (object: T) =>
    (selection.namespace === undefined || object.metadata.namespace === selection.namespace) &&
    labels.matches(object.metadata.labels) &&
    selection.fields.requirements.every((requirement) => {
      // The index has already decided; its function may fail by now.
      if (requirement === index?.requirement) return true;
      const { field, operator, value } = requirement;
      const indexer = indexers[fieldIndex(field)];
      const values = indexer === undefined ? [fieldOf(object, field) ?? ''] : filedUnder(indexer, object);
      return values.includes(value) === (operator === '=');
    });
  const isPlain = selection.fields.isEmpty() && labels.isEmpty();
  const desired = isPlain ? found : found.filter(isWanted);
  return limit !== undefined && limit > 0 && desired.length > limit ? desired.slice(0, limit) : desired;
}

/** How many objects {@link select} looks at. */
export function breadth<T extends KubeObject>(reader: IndexReader<T>, selection: ParsedSelection): number {
  const index = indexFor(reader, selection);
  return (index === undefined ? reader.listKeys() : reader.indexKeys(index.name, index.value)).length;
}

function indexFor<T>(reader: IndexReader<T>, { namespace, fields }: ParsedSelection) {
  const indexers = reader.getIndexers();
  const indexed = fields.requirements.find(
    ({ field, operator }) => operator === '=' && Object.hasOwn(indexers, fieldIndex(field)),
  );
  if (indexed !== undefined) {
    return { name: fieldIndex(indexed.field), value: indexed.value, requirement: indexed };
  }
  return namespace === undefined ? undefined : { name: namespaceIndex, value: namespace, requirement: undefined };
}

/**
 * Whether the server would select the object; undefined if that is unknown here: a missing field may stand for a
 * default that only the server knows.
 */
export function isSelected(object: KubeObject, { namespace, labels, fields }: ParsedSelection): boolean | undefined {
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
  if (!labels.matches(object.metadata.labels)) return false;
  let isSure = true;
  for (const { field, operator, value } of fields.requirements) {
    const actual = fieldOf(object, field);
    if (actual === undefined) isSure = false;
    else if ((actual === value) !== (operator === '=')) return false;
  }
  return isSure ? true : undefined;
}

/** The text at a path such as `spec.nodeName`; undefined if it is missing. */
function fieldOf(object: KubeObject, path: string): string | undefined {
  let value: unknown = object;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

function labelsOf(selector: Given['labelSelector']): Selector {
  // By its method: a label may be called "matches", too.
  if (typeof (selector as Partial<Selector> | undefined)?.matches === 'function') return selector as Selector;
  return parseSelector(listParams({ labelSelector: selector }).labelSelector ?? '');
}

function fieldsOf(selector: Given['fieldSelector']): FieldSelector {
  return parseFieldSelector(listParams({ fieldSelector: selector }).fieldSelector ?? '');
}

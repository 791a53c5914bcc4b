import { type GroupVersionKind, isJsonObject, type KubeObject, type ListMeta } from 'riata/object';
import { agesAt, type Column, type TablePrinter } from './table-printer.js';

/** The part of the object that comes with its row. */
export type IncludeObject = 'Metadata' | 'Object' | 'None';

/** How a Table is made. */
export interface TableForm {
  readonly printer: TablePrinter;
  /** `meta.k8s.io/v1` or `v1beta1`, kind `Table`. */
  readonly as: GroupVersionKind;
  readonly includeObject: IncludeObject;
  /** The kind of list items: those of built-in kinds do not carry it. */
  readonly item: { readonly kind: string; readonly apiVersion: string };
  /** Whether it says which columns there are: a watch does so once. */
  readonly headers: boolean;
  readonly nowMs: number;
}

/** An object, or a list of them. */
export type Showable = KubeObject | { readonly metadata?: ListMeta; readonly items: readonly KubeObject[] };

/** The Table of an object or of a list. */
export function makeTable(value: Showable, form: TableForm) {
  const { as, printer, headers } = form;
  const listed = 'items' in value ? value.items : [value as KubeObject];
  const items = printer.compare === undefined ? listed : [...listed].sort(printer.compare);
  const ages = agesAt(form.nowMs);
  const rows = items.map((object) => {
    const cells = printer.cells(withName(object), ages);
    const conditions = printer.conditions?.(object);
    return { cells, ...(conditions && { conditions }), object: rowObject(object, form) };
  });
  return {
    kind: as.kind,
    apiVersion: `${as.group}/${as.version}`,
    metadata: tableMeta(value),
    columnDefinitions: headers ? printer.columns.map(columnDefinition) : null,
    rows,
  };
}

/** A bookmark has no name, which is shown as an empty one. */
function withName(object: KubeObject): KubeObject {
  const { metadata } = object;
  return metadata.name === undefined ? { ...object, metadata: { ...metadata, name: '' } } : object;
}

function tableMeta(value: object): ListMeta {
  const given = (value as { metadata?: ListMeta }).metadata ?? {};
  const { resourceVersion, continue: token, remainingItemCount } = given;
  return {
    ...(resourceVersion && { resourceVersion }),
    ...(token && 'items' in value && { continue: token }),
    ...(remainingItemCount !== undefined && { remainingItemCount }),
  };
}

function columnDefinition({ name, type = 'string', format = '', description = '', priority = 0 }: Column) {
  return { name, type, format, description, priority };
}

function rowObject(object: KubeObject, { as, includeObject, item }: TableForm): object | null {
  const { kind, apiVersion } = item;
  if (includeObject === 'Object') return Object.assign({ kind, apiVersion }, object);
  // The end of a watch's initial events is marked by an annotation that no client may miss.
  if (includeObject === 'None' && !isInitialEventsEnd(object)) return null;
  return { kind: 'PartialObjectMetadata', apiVersion: `${as.group}/${as.version}`, metadata: object.metadata };
}

function isInitialEventsEnd({ metadata }: KubeObject): boolean {
  return metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
}

/** Whether an answer can be shown as a Table: errors stay what they are. */
export function isShowable(value: unknown): value is Showable {
  return isJsonObject(value) && value.kind !== 'Status';
}

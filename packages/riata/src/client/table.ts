import { isJsonObject } from '../object/json.js';
import type { KindRef } from '../object/kind.js';
import type { ListMeta, TypeMeta } from '../object/meta.js';

/** One column (`metav1.TableColumnDefinition`). */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0 is shown always; higher ones by wide output only. */
  readonly priority: number;
}

/** One row (`metav1.TableRow`): a cell per column, and the metadata of the object that it shows. */
export interface TableRow {
  readonly cells: readonly unknown[];
  readonly object?: { readonly [field: string]: unknown };
}

/** Objects as the server would print them (`metav1.Table`). */
export interface Table extends TypeMeta {
  readonly metadata: ListMeta;
  readonly columnDefinitions: readonly TableColumn[];
  readonly rows: readonly TableRow[];
}

/** Nothing else is accepted: an answer in another form would have to be refused anyway. */
export const tableAccept = 'application/json;as=Table;v=v1;g=meta.k8s.io';

export function toTable(answer: unknown, kind: KindRef): Table {
  if (!isJsonObject(answer) || answer.kind !== 'Table') {
    throw new TypeError(
      `table of ${kind.plural}: expected a Table, got ${nameOf(answer)}; this server does not print this kind`,
    );
  }
  // An empty table's rows may be null.
  const { metadata, columnDefinitions, rows } = answer;
  return {
    ...answer,
    metadata: metadata ?? {},
    columnDefinitions: columnDefinitions ?? [],
    rows: rows ?? [],
  } as unknown as Table;
}

function nameOf(answer: unknown): string {
  if (isJsonObject(answer)) return answer.kind === undefined ? 'an object without a kind' : JSON.stringify(answer.kind);
  if (answer === null) return 'null';
  return Array.isArray(answer) ? 'a list' : `a ${typeof answer}`;
}

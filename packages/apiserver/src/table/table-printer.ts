import type { Json, KubeObject } from 'riata/object';
import { humanDuration } from './human-duration.js';

/** A column of a Table. */
export interface Column {
  readonly name: string;
  /** @default 'string' */
  readonly type?: string;
  /** @default '' */
  readonly format?: string;
  /** 0 is always shown, anything above only where there is room (`kubectl get -o wide`). @default 0 */
  readonly priority?: number;
  /** @default '' */
  readonly description?: string;
}

/** Says how long ago things were, for one answer. */
export interface Ages {
  /** How long ago it was, e.g. `5m10s`; `<unknown>` for no time. */
  since(time: string | null | undefined): string;
}

/** A remark on a row, e.g. that a Pod has come to its end. */
export interface RowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** How objects of a kind become rows. */
export interface TablePrinter<T = KubeObject> {
  readonly columns: readonly Column[];
  /** One for each column. */
  cells(object: T, ages: Ages): readonly Json[];
  conditions?(object: T): readonly RowCondition[] | undefined;
  /** The order of the rows of a list. @default that of the list */
  compare?(a: T, b: T): number;
}

export const nameColumn: Column = { name: 'Name', format: 'name' };
export const ageColumn: Column = { name: 'Age' };

/** Columns of text. */
export const texts = (...names: readonly string[]): Column[] => names.map((name) => ({ name }));
/** Columns of whole numbers. */
export const integers = (...names: readonly string[]): Column[] => names.map((name) => ({ name, type: 'integer' }));
/** Columns of text that are shown where there is room. */
export const wide = (...names: readonly string[]): Column[] => names.map((name) => ({ name, priority: 1 }));
export const booleans = (...names: readonly string[]): Column[] => names.map((name) => ({ name, type: 'boolean' }));

/** A printer whose objects have that type. Which one is right for an object is known by its resource. */
export function printer<T>(
  columns: readonly Column[],
  cells: (object: T, ages: Ages) => readonly Json[],
  conditions?: (object: T) => readonly RowCondition[] | undefined,
): TablePrinter {
  return { columns, cells: cells as TablePrinter['cells'], conditions: conditions as TablePrinter['conditions'] };
}

/** Ages as seen at a moment. */
export function agesAt(nowMs: number): Ages {
  const since = (time: string | null | undefined) => {
    const at = Date.parse(time ?? '');
    return Number.isNaN(at) ? '<unknown>' : humanDuration(nowMs - at);
  };
  return { since };
}

import type { Source } from './source.js';

/** What a running source works with, which another one of its sort may replace. */
export interface SourceSlot<T> {
  /** Sources exchange values if this is the same, such as their schedule. */
  readonly sort: unknown;
  value: T;
}

/** Where a source keeps its slot; the next one may come from another copy of the package. */
const slotKey: unique symbol = Symbol.for('riata.sourceSlot') as never;

/**
 * A source that continues with the functions of the next one when its definition is replaced: its timers, and what it has
 * read so far, stay. `onReplaced` is called with the value before.
 */
export function withSlot<T>(source: Source, slot: SourceSlot<T>, onReplaced?: (before: T) => void): Source {
  const slotted: Source & { readonly [slotKey]: SourceSlot<T> } = {
    ...source,
    [slotKey]: slot,
    adopt: (next) => {
      const other = (next as { readonly [slotKey]?: SourceSlot<T> })[slotKey];
      if (other === undefined || other.sort !== slot.sort) return undefined;
      return () => {
        const before = slot.value;
        slot.value = other.value;
        onReplaced?.(before);
      };
    },
  };
  return slotted;
}

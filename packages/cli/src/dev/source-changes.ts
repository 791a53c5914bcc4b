/** Which files have changed since the last time. */
export interface SourceChanges {
  /** Absolute paths of files that were changed, created or deleted. */
  readonly files: ReadonlySet<string>;
  /** Whether others may have changed as well: nothing is known then. */
  readonly isAll: boolean;
}

/** Nothing is known: the first time, or after a change that leads to others. */
export const anyChange: SourceChanges = { files: new Set(), isAll: true };

/** Those of two times. */
export function mergeChanges(first: SourceChanges, second: SourceChanges): SourceChanges {
  return { files: new Set([...first.files, ...second.files]), isAll: first.isAll || second.isAll };
}

import { relative, sep } from 'node:path';
import type { SourceChanges } from '../source-changes.js';
import type { TypeProblem } from './type-problem.js';

/** A compiler that is kept running, and knows a project from the last check. */
export interface WarmTypes extends AsyncDisposable {
  /** The errors of the project as it is on disk. Checks are made one after the other. */
  check(changes: SourceChanges): Promise<readonly TypeProblem[]>;
  /** The files of the project that the last check has read; those of packages are not among them. */
  readonly sources: readonly string[];
}

/** Without the files of packages. `folder`: that of the project. */
export function ownSources(files: Iterable<string>, folder: string): readonly string[] {
  return [...files].filter((path) => !relative(folder, path).split(sep).includes('node_modules'));
}

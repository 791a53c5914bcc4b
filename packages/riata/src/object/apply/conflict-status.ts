import { compareStrings } from '../compare-strings.js';
import { goQuote } from '../go-text.js';
import type { Status, StatusCause } from '../meta.js';
import { formatPath, type Path } from './fields/path-element.js';
import { type ManagedSet, managerId } from './managers.js';

/** A field that an applier would change and another manager owns (`merge.Conflict`). */
export interface Conflict {
  readonly manager: Pick<ManagedSet, 'manager' | 'applied' | 'apiVersion' | 'subresource'>;
  readonly path: Path;
}

/** The answer to an apply with conflicts (`NewConflictError`): 409 with one cause per field. */
export function conflictStatus(conflicts: readonly Conflict[]): Status {
  const causes: StatusCause[] = conflicts.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${printManager(manager)}`,
    field: formatPath(path),
  }));
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: conflictMessage(conflicts),
    reason: 'Conflict',
    details: { causes },
    code: 409,
  };
}

function conflictMessage(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (first !== undefined && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${printManager(first.manager)}: ${formatPath(first.path)}`;
  }
  const byManager = new Map<string, Conflict[]>();
  for (const conflict of conflicts) {
    const id = managerId(conflict.manager);
    const same = byManager.get(id);
    if (same === undefined) byManager.set(id, [conflict]);
    else same.push(conflict);
  }
  const lines: string[] = [];
  for (const [, same] of [...byManager].sort(([a], [b]) => compareStrings(a, b))) {
    lines.push(`conflicts with ${printManager(same[0]!.manager)}:`);
    for (const { path } of same) lines.push(`- ${formatPath(path)}`);
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

function printManager({ manager, applied, apiVersion, subresource }: Conflict['manager']): string {
  const name = subresource === '' ? goQuote(manager) : `${goQuote(manager)} with subresource ${goQuote(subresource)}`;
  return applied ? name : `${name} using ${apiVersion}`;
}

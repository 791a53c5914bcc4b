import type { PrepareContext } from '../kind-rules.js';

/** The newest class that is meant for those who name none: the one with an annotation that says so. */
export function defaultClass(
  { objects }: PrepareContext,
  table: string,
  annotations: readonly string[],
): string | undefined {
  const [newest] = objects(table)
    .map(({ metadata }) => metadata)
    .filter((metadata) => annotations.some((key) => metadata.annotations?.[key] === 'true'))
    .sort((a, b) => compare(b.creationTimestamp ?? '', a.creationTimestamp ?? '') || compare(a.name, b.name));
  return newest?.name;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

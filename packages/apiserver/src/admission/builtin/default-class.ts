import type { Storage } from '../../storage/storage.js';
import { objectsOf } from './synchronous-plugin.js';

/** The newest class whose annotations make it the default. */
export function defaultClass(storage: Storage, table: string, annotations: readonly string[]): string | undefined {
  const [newest] = objectsOf(storage, table)
    .map(({ metadata }) => metadata)
    .filter((metadata) => annotations.some((key) => metadata.annotations?.[key] === 'true'))
    .sort((a, b) => compare(b.creationTimestamp ?? '', a.creationTimestamp ?? '') || compare(a.name, b.name));
  return newest?.name;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

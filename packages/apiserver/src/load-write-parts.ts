import { loadKindParts } from './resource/load-kind-parts.js';
import type * as parts from './write-parts.js';

type WriteParts = typeof parts;

let loaded: WriteParts | undefined;

/** The code that only writes need. Throws an `Error` if it is not loaded. */
export function writeParts(): WriteParts {
  if (loaded === undefined) throw new Error('the code for writes is not loaded; call loadWriteParts() first');
  return loaded;
}

/**
 * Loads the code for writes, with the rules of kinds. Returns undefined if it is loaded, so that requests need not wait
 * each time.
 */
export function loadWriteParts(): Promise<void> | undefined {
  return loaded === undefined ? load() : undefined;
}

async function load(): Promise<void> {
  [loaded] = await Promise.all([import('./write-parts.js'), loadKindParts()]);
}

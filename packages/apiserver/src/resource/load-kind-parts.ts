import type * as parts from './kind-parts.js';

type KindParts = typeof parts;

let loaded: KindParts | undefined;

/** The rules of kinds. Throws an `Error` if they are not loaded. */
export function kindParts(): KindParts {
  if (loaded === undefined) throw new Error('the rules of kinds are not loaded; call loadKindParts() first');
  return loaded;
}

/** Loads the rules of kinds. Returns undefined if they are loaded, so that requests need not wait each time. */
export function loadKindParts(): Promise<void> | undefined {
  return loaded === undefined ? load() : undefined;
}

async function load(): Promise<void> {
  loaded = await import('./kind-parts.js');
}

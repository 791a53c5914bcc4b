import type * as parts from './write-parts.js';

type WriteParts = typeof parts;

let loaded: WriteParts | undefined;

/** What writing needs. Throws an `Error` before it has been loaded. */
export function writeParts(): WriteParts {
  if (loaded === undefined) throw new Error('the rules of kinds are not there yet: loadWriteParts() comes first');
  return loaded;
}

/** Undefined when everything is there already, so that who asks for each request need not wait each time. */
export function loadWriteParts(): Promise<void> | undefined {
  return loaded === undefined ? load() : undefined;
}

async function load(): Promise<void> {
  loaded = await import('./write-parts.js');
}

import type { FastCheck } from './string-values.js';

/** The package that draws values from schemas; an optional dependency, as few tests need it. */
export async function loadFastCheck(who: string): Promise<FastCheck> {
  try {
    return await import('fast-check');
  } catch (error) {
    const remedy = 'install it: npm install --save-dev fast-check@4';
    throw new Error(`${who} requires the package fast-check; ${remedy}`, { cause: error });
  }
}

import type { KindRef } from '../../object/kind.js';

/**
 * Throws a `TypeError` for anything but a kind. The compiler does not see that in JavaScript, nor that one of two
 * modules that import each other is not initialised yet.
 */
export function assertKind(where: string, kind: KindRef | undefined): void {
  if (typeof kind?.kind === 'string' && typeof kind.plural === 'string') return;
  const expected = 'a Kind, as riata/kinds has them and defineKind makes them';
  const why = kind === undefined ? ': not exported, or not made yet, as two modules import each other?' : '';
  throw new TypeError(`${where}: expects ${expected}, got ${shownBriefly(kind)}${why}`);
}

/** Describes a wrong argument, for a message: never its values. */
export function shownBriefly(given: unknown): string {
  if (typeof given === 'function') return `the function ${given.name || 'without a name'}`;
  if (Array.isArray(given)) return 'an array';
  return typeof given === 'object' && given !== null ? `{ ${Object.keys(given).join(', ')} }` : String(given);
}

/**
 * What `riata top` draws with, for programs with a view of their own.
 *
 * @module
 */

export { reconcileLine } from './reconcile-line.js';
export { Screen } from './screen.js';
export { type Color, clip, type Paint, painter } from './text.js';

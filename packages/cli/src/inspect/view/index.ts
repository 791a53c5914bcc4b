/**
 * The view of `riata top`, for programs that show an operator of their own, with something beside it.
 *
 * @module
 */

export type { FollowedOperator } from '../follow-operator.js';
export { followUrl } from './follow-url.js';
export { type LiveView, showLive } from './live-view.js';
export { reconcileLine } from './reconcile-line.js';
export type { Color } from './text.js';
export type { SurroundingLine, TopSurroundings } from './top-lines.js';

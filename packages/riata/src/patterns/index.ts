/** Ways to write controllers over those that are shared: typed controllers, status and generating handlers, desired sets (wrangler). */
export type { SetApplier, SetApplyOptions } from './set-applier.js';

import crypto from 'node:crypto';

/**
 * The `hash` of node:crypto. Node 18 has none: imported by its name, it would fail there before anything of Riata is run,
 * {@link requireSupportedNode} included.
 */
export const hash: typeof crypto.hash = crypto.hash;

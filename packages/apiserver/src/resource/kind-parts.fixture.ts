import { loadKindParts } from './load-kind-parts.js';

/** Loads the code for writes, in tests that use resources without a server. */
await loadKindParts();

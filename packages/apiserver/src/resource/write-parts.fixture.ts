import { loadWriteParts } from './load-write-parts.js';

/** Loads the code for writes, in tests that use resources without a server. */
await loadWriteParts();

import { loadWriteParts } from './load-write-parts.js';

/** For tests that look at resources without a server, which would load what they need. */
await loadWriteParts();

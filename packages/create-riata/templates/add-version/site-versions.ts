import { conversion } from 'riata/webhook';
import { Site } from './site.js';

/** Converts Sites between their versions, for the API server. */
export const siteVersions = conversion(Site);

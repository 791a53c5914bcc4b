import { admit } from 'riata/webhook';
import { Site } from './site.js';

/** Checks Sites before the API server stores them. */
export const siteRules = admit(Site).validates(({ object: site, deny, path }) => {
  if (site.metadata.name.length > 50) deny(path.metadata.name, 'must have at most 50 characters');
});

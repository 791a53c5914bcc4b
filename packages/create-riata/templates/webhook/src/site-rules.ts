import { admit } from 'riata/webhook';
import { Site } from './site.js';

/** Defaults and checks Sites before the API server stores them. */
export const siteRules = admit(Site)
  .mutates((site) => {
    site.spec.zone ??= 'a';
  })
  .validates(({ object: site, old, deny, warn, path }) => {
    if (old && old.spec.zone !== site.spec.zone) deny(path.spec.zone, 'is immutable');
    if (site.spec.replicas > 10) warn('more than 10 replicas cost money');
  });

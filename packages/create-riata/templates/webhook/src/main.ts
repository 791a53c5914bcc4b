import { isMain, run } from 'riata';
import { siteRules } from './site-rules.js';
import { sites } from './sites.js';

/** What the operator runs; the riata command reads it, too. */
export const definitions = [sites, siteRules];

if (isMain(import.meta.url)) await run(...definitions);

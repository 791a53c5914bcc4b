import { isMain, run } from 'riata';
import { sites } from './sites.js';

/** What the operator runs; the riata command reads it, too. */
export const definitions = [sites];

if (isMain(import.meta.url)) await run(...definitions);

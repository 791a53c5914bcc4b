import { isMain, type ManagerOptions, run } from 'riata';
import { sites } from './sites.js';

export const definitions = [sites];
export const options: ManagerOptions = { leaderElection: { namespace: 'site-operator', name: 'site-operator' } };

if (isMain(import.meta.url)) await run(...definitions, options);

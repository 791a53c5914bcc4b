import { isMain, run } from 'riata';
import type { Addable } from 'riata/manager';
import { Controllers } from 'riata/patterns';
import { SharedControllerFactory } from 'riata/shared';
import { registerSites } from './sites.js';

/** All handlers, over the connection, the caches and the leader election of the manager. */
const handlers: Addable = {
  addTo(manager) {
    const factory = SharedControllerFactory.fromManager(manager);
    registerSites(new Controllers(factory));
    return manager.add(factory, { stage: 'leader' });
  },
};

/** What the operator runs; the riata command reads it, too. */
export const definitions = [handlers];

if (isMain(import.meta.url)) await run(...definitions);

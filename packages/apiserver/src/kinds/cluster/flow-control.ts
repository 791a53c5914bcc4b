import { computed } from '../defaults-table.js';
import type { KindRules } from '../kind-rules.js';

/** Zero stands for the default: the fields are plain numbers upstream. */
const unlessZero = (usual: number) => computed((value) => (value === undefined || value === 0 ? usual : value));

export const flowSchemaRules: KindRules = {
  defaults: { 'spec.matchingPrecedence': unlessZero(1000) },
};

export const priorityLevelRules: KindRules = {
  defaults: {
    'spec.exempt.nominalConcurrencyShares': 0,
    'spec.exempt.lendablePercent': 0,
    'spec.limited.nominalConcurrencyShares': 30,
    'spec.limited.lendablePercent': 0,
    'spec.limited.limitResponse.queuing.handSize': unlessZero(8),
    'spec.limited.limitResponse.queuing.queues': unlessZero(64),
    'spec.limited.limitResponse.queuing.queueLengthLimit': unlessZero(50),
  },
};

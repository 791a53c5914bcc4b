import { formatGvk, gvkOf } from '../../object/gvk.js';
import { amend, type ErrorConditions, type Summarizer } from './summary-draft.js';

/** For kinds of which nothing else is known. */
const generally: ErrorConditions[string] = { Stalled: ['True'], Failed: ['True'] };

const known: ErrorConditions = {
  'helm.cattle.io/v1, Kind=HelmChart': { JobCreated: [], Failed: ['True'] },
  '/v1, Kind=Node': {
    OutOfDisk: ['True'],
    MemoryPressure: ['True'],
    DiskPressure: ['True'],
    NetworkUnavailable: ['True'],
  },
  'apps/v1, Kind=Deployment': { ReplicaFailure: ['True'], Progressing: ['False'] },
  'apps/v1, Kind=ReplicaSet': { ReplicaFailure: ['True'] },
};

/** Conditions that mean an error, by what is known of the kind, or as their reason says so. */
export const checkErrors: Summarizer = (object, conditions, draft, { errorConditions }) => {
  if (conditions.length === 0) return draft;
  const kind = formatGvk(gvkOf(object));
  const rules = { ...(known[kind] ?? generally), ...errorConditions[kind] };
  let next = draft;
  for (const { type, status, reason, message } of conditions) {
    if (reason !== 'Error' && !rules[type]?.includes(status)) continue;
    const state = next.state === 'active' || next.state === '' ? 'error' : next.state;
    next = amend(next, { error: true, state }, message);
  }
  return next;
};

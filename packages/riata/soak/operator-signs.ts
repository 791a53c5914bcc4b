/** What an operator process prints when it can be asked to stop. */
export const upLine = 'the operator is up';

/** What it exits with when its lease is lost: somebody has to start it anew. */
export const lostLeaseCode = 3;

/** What an operator process prints when it can be asked to stop. */
export const upLine = 'the operator is up';

/** Its exit code when its lease is lost: it has to be restarted. */
export const lostLeaseCode = 3;

import type { ActiveReconcile } from './active-reconcile.js';

/** Says once of a controller that its reconciler goes on after it has ended. */
export class LateWork {
  #isTold = false;

  readonly tell = ({ log }: Pick<ActiveReconcile, 'log'>): void => {
    if (this.#isTold) return;
    this.#isTold = true;
    log.warn('goes on after it has ended, while its key may run again: is an await missing in the reconciler?');
  };
}

import { Cond } from './cond.js';

/** Work is in progress: `computeStatus` returns `InProgress` (`kstatus.Reconciling`). */
export const Reconciling = new Cond('Reconciling');

/** It will not recover without a change: `computeStatus` returns `Failed` (`kstatus.Stalled`). */
export const Stalled = new Cond('Stalled');

/** A copy of an object, or of a status, that counts as failed (`kstatus.SetError`). */
export function setStatusError<T extends object>(of: T, message: string): T {
  const idle = Reconciling.setFalse(of, { reason: 'Stalled', message: '' });
  return Stalled.setTrue(idle, { reason: 'Stalled', message });
}

/** A copy of an object, or of a status, that counts as being in progress (`kstatus.SetTransitioning`). */
export function setStatusTransitioning<T extends object>(of: T, message: string): T {
  const busy = Reconciling.setTrue(of, { reason: 'Reconciling', message });
  return Stalled.setFalse(busy, { reason: 'Reconciling', message: '' });
}

/** A copy of an object, or of a status, that counts as being as it should (`kstatus.SetActive`). */
export function setStatusActive<T extends object>(of: T): T {
  const idle = Reconciling.setFalse(of, { reason: 'Active', message: '' });
  return Stalled.setFalse(idle, { reason: 'Active', message: '' });
}

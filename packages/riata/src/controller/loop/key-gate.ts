import type { Run } from '../../client/operation/operation.js';
import type { KnownObjects } from '../source/known-objects.js';
import type { Request } from './request.js';

/** Says which keys are this replica's to work on, where several replicas share a controller's work. */
export interface KeyGate {
  /**
   * Asked right before each reconcile. A key that is not admitted is dropped: nothing is said about its object, which is
   * another replica's. Whoever opens the gate again puts in line what was dropped.
   */
  admits(key: Request): boolean;
  /**
   * For the client of a reconcile of this key, made when it begins: its writes start only while the key may be worked on,
   * and happen to the objects that are `known` or to none.
   */
  fence(key: Request, known: KnownObjects): (run: Run) => Run;
}

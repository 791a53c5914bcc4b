import type { Run } from '../../client/operation/operation.js';
import type { KnownObjects } from '../source/known-objects.js';
import type { Request } from './request.js';

/** Decides which keys this replica reconciles, where several replicas share a controller. */
export interface KeyGate {
  /**
   * Asked right before each reconcile. A key that is not admitted is dropped: another replica owns it. When the gate
   * admits it later, its owner has to enqueue it.
   */
  admits(key: Request): boolean;
  /**
   * For the client of a reconcile of this key, made when it begins: its writes start only while the key may be worked on,
   * and happen to the objects that are `known` or to none.
   */
  fence(key: Request, known: KnownObjects): (run: Run) => Run;
}

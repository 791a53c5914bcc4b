import type { KubeObject } from '../../object/meta.js';
import type { ResourceEventHandler } from '../informer/resource-event-handler.js';
import { SharedIndexInformer } from '../informer/shared-index-informer.js';
import type { SharedIndexInformerOptions, SharedInformer } from '../informer/shared-informer.js';
import type { ListerWatcher } from '../reflector/list-watch.js';
import type { Indexer } from '../store/indexer.js';

/** The result of {@link newInformer}. */
export interface NewInformer<T extends KubeObject> {
  readonly indexer: Indexer<T>;
  /** Has to be run. */
  readonly controller: Pick<
    SharedInformer<T>,
    'run' | 'hasSynced' | 'synced' | 'lastSyncResourceVersion' | 'isStopped' | 'health'
  >;
}

/**
 * A store that is kept up to date, and one handler (`cache.NewInformer`, `NewIndexerInformer`, `NewTransformingInformer`,
 * `NewInformerWithOptions`): an informer with a single handler.
 *
 * @example
 * const { indexer, controller } = newInformer(listWatch(client, Pod), { onAdd, onDelete }, { resyncPeriod: '10m' });
 * void controller.run({ signal });
 */
export function newInformer<T extends KubeObject>(
  listerWatcher: ListerWatcher<T>,
  handler: ResourceEventHandler<T>,
  options?: SharedIndexInformerOptions<T>,
): NewInformer<T> {
  const informer = new SharedIndexInformer(listerWatcher, options);
  informer.addEventHandler(handler);
  return { indexer: informer.getIndexer(), controller: informer };
}

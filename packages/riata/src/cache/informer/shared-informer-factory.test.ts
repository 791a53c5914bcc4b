import { describe, expect, test } from 'vitest';
import type { ListOptions, WatchOptions } from '../../client/options.js';
import { ConfigMap, Pod, Secret } from '../../kinds/index.js';
import type { KindRef } from '../../object/kind.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { onAbort } from '../../runtime/signals.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import type { ListWatchClient } from '../reflector/list-watch.js';
import { SharedInformerFactory, type SharedInformerFactoryOptions } from './shared-informer-factory.js';

/** Notes what is listed and watched, and never answers. */
function factory(options: SharedInformerFactoryOptions = {}) {
  const asked: string[] = [];
  const clock = new VirtualClock();
  const silence =
    () =>
    (kind: KindRef, { namespace = '*', labelSelector = '', signal }: ListOptions | WatchOptions): Promise<never> => {
      asked.push(`${kind.projection ?? 'whole'} ${kind.plural} ${namespace} ${String(labelSelector)}`.trim());
      return new Promise((_, reject) => {
        onAbort(signal, () => reject(signal?.reason));
      });
    };
  const client = { list: silence(), watch: silence() } as unknown as ListWatchClient;
  const made = new SharedInformerFactory(client, { runtime: { clock, log: silentLogger }, ...options });
  return { asked, clock, factory: made };
}

describe('SharedInformerFactory', () => {
  test('gives one informer per kind and selection', async () => {
    const { factory: made } = factory();
    const pods = made.forKind(Pod);
    expect(made.forKind(Pod)).toBe(pods);
    expect(made.forKind(Pod, { labelSelector: '' })).toBe(pods);
    const others = [
      made.forKind(Secret),
      made.forKind(Pod, { namespace: 'shop' }),
      made.forKind(Pod, { labelSelector: 'app=web' }),
      made.forKind(Pod, { metadataOnly: true }),
    ];
    expect(new Set<unknown>([pods, ...others]).size).toBe(5);
    expect(made.forKind(Pod, { labelSelector: { matchLabels: { app: 'web' } } })).toBe(others[2]);
    expect([pods, ...others].map(({ name }) => name)).toEqual([
      ...['pods', 'secrets', 'pods in shop', 'pods with app=web', 'pods metadata'],
    ]);
  });

  test('starts what is not started yet, and stops all', async () => {
    const { factory: made, asked, clock } = factory({ namespace: 'shop', useWatchList: false });
    const pods = made.forKind(Pod);
    made.start();
    made.start();
    await clock.settle();
    expect(asked).toEqual(['whole pods shop']);
    const maps = made.forKind(ConfigMap, { metadataOnly: true, namespace: 'other', labelSelector: 'a=b' });
    await clock.settle();
    expect(asked).toHaveLength(1);
    const stop = new AbortController();
    made.start({ signal: stop.signal });
    await clock.settle();
    expect(asked.slice(1)).toEqual(['metadata configmaps other a=b']);
    stop.abort();
    await clock.settle();
    expect([pods.isStopped, maps.isStopped]).toEqual([false, true]);
    await made.shutdown();
    expect(pods.isStopped).toBe(true);
    expect(() => made.start()).toThrow(/is shut down; create a new one/);
    await made.shutdown();
    expect(clock.pending).toBe(0);
  });

  test('waits only for what was started', async () => {
    const { factory: made } = factory();
    made.forKind(Pod);
    await made.waitForCacheSync();
    made.start();
    const waiting = made.waitForCacheSync();
    await made.shutdown();
    await expect(waiting).rejects.toThrow(/has stopped/);
  });

  test('options: for all, per kind, for one', async () => {
    const transform = <T>(obj: T) => obj;
    const { factory: made } = factory({ transform, resyncPeriod: '1h', perKind: [[Secret, { resyncPeriod: '2h' }]] });
    const pods = made.forKind(Pod, { indexers: { byNode: (pod) => [pod.spec?.nodeName ?? ''] } });
    made.forKind(Pod, { indexers: { byPhase: (pod) => [pod.status?.phase ?? ''] }, resyncPeriod: '1h' });
    expect(Object.keys(pods.getIndexer().getIndexers())).toEqual(['namespace', 'byNode', 'byPhase']);
    made.forKind(Secret);
    expect(() => made.forKind(Secret, { resyncPeriod: '1h' })).toThrow(
      /secrets" already exists with different resyncPeriod; use the same options/,
    );
    expect(() => made.forKind(Pod, { transform: (pod) => pod, resyncPeriod: '5m' })).toThrow(
      /different transform, resyncPeriod/,
    );
    made.forKind(ConfigMap, { silence: '5s' });
    expect(() => made.forKind(ConfigMap, { useWatchList: false, silence: '6s' })).toThrow(
      /different useWatchList, silence/,
    );
  });
});

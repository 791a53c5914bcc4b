import { expect, test } from 'vitest';
import { DrivenInformer, type Thing, thing } from '../../cache/informer/informer.fixture.js';
import { enqueueRequestForObject } from './event-handler.js';
import { informerSource } from './informer-source.js';
import { generationChanged } from './predicate.js';
import { sourceBench } from './source.fixture.js';
import { inCluster, isSyncing } from './source.js';

test('changes of an informer become keys, those of the first list with low priority', async () => {
  const { run, take, end, clock } = sourceBench();
  await using driven = new DrivenInformer();
  const source = informerSource<Thing>(driven.informer, enqueueRequestForObject());
  await run(source);
  let isSynced = false;
  const synced = source.waitForSync({ signal: driven.signal }).then(() => {
    isSynced = true;
  });
  await clock.settle();
  expect(isSynced).toBe(false);
  await driven.start(thing('a', 1));
  await synced;
  expect(take()).toMatchObject([
    {
      name: 'shop/a',
      priority: -100,
      causes: [{ source: 'informer things', change: 'Added', object: 'Thing shop/a', resourceVersion: '1' }],
    },
  ]);
  await driven.update(thing('a', 2));
  expect(take()).toMatchObject([{ name: 'shop/a', priority: 0, causes: [{ change: 'Updated' }] }]);
  await end();
  await driven.update(thing('a', 3));
  expect(take()).toEqual([]);
});

test('predicates and a name', async () => {
  const { run, take, end } = sourceBench();
  await using driven = new DrivenInformer();
  await run(
    informerSource<Thing>(driven.informer, enqueueRequestForObject(), { predicates: [generationChanged], name: 'n' }),
  );
  await driven.start(thing('a', 1));
  expect(take()).toMatchObject([{ causes: [{ source: 'n' }] }]);
  await driven.update(thing('a', 2));
  expect(take()).toEqual([]);
  await end();
});

test('a handler that throws is asked again', async () => {
  const { run, names, end, clock, log } = sourceBench();
  await using driven = new DrivenInformer();
  let failures = 1;
  await run(
    informerSource<Thing>(driven.informer, ({ key }, enqueue) => {
      if (failures-- > 0) throw new Error('not now');
      enqueue({ name: key.replace('/', '-') });
    }),
  );
  await driven.start(thing('a', 1));
  expect(names()).toEqual([]);
  await clock.advance(200);
  await driven.clock.settle();
  expect(names()).toEqual(['shop-a']);
  expect(log.messages('error')).toEqual(['function failed for one object, will be retried']);
  await end();
});

test('waiting for one that was not started is a mistake', async () => {
  await using driven = new DrivenInformer();
  const source = informerSource<Thing>(driven.informer, enqueueRequestForObject());
  await expect(source.waitForSync({ signal: driven.signal })).rejects.toThrow(
    'source "informer things" was not started',
  );
});

test('in one of several clusters', async () => {
  const { run, queue, end } = sourceBench();
  await using driven = new DrivenInformer();
  const source = inCluster(informerSource<Thing>(driven.informer, enqueueRequestForObject()), 'east');
  await run(source);
  await driven.start(thing('a', 1));
  expect(isSyncing(source)).toBe(true);
  if (isSyncing(source)) await source.waitForSync({ signal: driven.signal });
  expect(queue.tryGet()?.key).toEqual({ cluster: 'east', namespace: 'shop', name: 'a' });
  await end();
});

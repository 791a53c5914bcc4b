import { describe, expect, test } from 'vitest';
import { CachePlay, forbidden } from './cache.fixture.js';
import { ThingKind } from './fake-cluster.fixture.js';

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('namespaces that change', () => {
  test('from one to all: deletions in between are reported, kept objects are not reported as deleted', async () => {
    await using play = new CachePlay({ namespaces: ['one'] });
    const { cluster, cache, clock } = play;
    for (const name of ['a', 'b']) cluster.put('one', name);
    cluster.put('two', 'c');
    await play.start();
    const reported = await play.noting();
    expect(reported.splice(0)).toEqual(['Added one/a', 'Added one/b']);
    const list = gate();
    cluster.onRequest = (request) => (request === 'list *' ? list.opened : undefined);
    const changed = cache.setNamespaces(ThingKind, undefined);
    await clock.settle();
    cluster.delete('one', 'a');
    await clock.settle();
    list.open();
    await changed;
    await clock.settle();
    expect(reported.filter((text) => text.startsWith('Deleted'))).toEqual(['Deleted one/a']);
    expect(cluster.watches).toBe(1);
    cluster.delete('one', 'b');
    await clock.settle();
    expect(reported.filter((text) => text.startsWith('Deleted'))).toEqual(['Deleted one/a', 'Deleted one/b']);
  });

  test('from one to all, which is refused: said so, and the one is watched on until it is granted', async () => {
    await using play = new CachePlay({ namespaces: ['one'] });
    const { cluster, cache, clock } = play;
    cluster.put('one', 'a');
    await play.start();
    const reported = await play.noting();
    cluster.onRequest = (request) => {
      if (request === 'list *') throw forbidden();
    };
    await expect(cache.setNamespaces(ThingKind, undefined)).rejects.toThrow('may not list things.test.riata.dev');
    cluster.put('one', 'a');
    await clock.settle();
    expect(reported).toEqual(['Added one/a', 'Updated one/a']);
    cluster.onRequest = () => undefined;
    await clock.advance(120_000);
    expect(reported).toEqual(['Added one/a', 'Updated one/a', 'Added one/a']);
    expect(cluster.watches).toBe(1);
  });

  test('while a read waits for one of them: it gets the objects of the others', async () => {
    await using play = new CachePlay({ namespaces: ['one'] });
    const { cluster, cache, clock } = play;
    cluster.put('two', 'c');
    cluster.onRequest = (request) => (request === 'list one' ? new Promise(() => {}) : undefined);
    await play.start();
    const items = cache.list(ThingKind).then((list) => list.items.map((item) => item.metadata.name));
    const registration = cache.use(ThingKind).informer.addEventHandler({});
    const synced = registration.synced();
    await clock.settle();
    await cache.setNamespaces(ThingKind, ['two']);
    expect(await items).toEqual(['c']);
    await synced;
  });

  test('what was refused in one that is not held any more is no reason against the others', async () => {
    await using play = new CachePlay({ namespaces: ['one'] });
    const { cluster, cache, clock } = play;
    cluster.put('two', 'c');
    const list = gate();
    cluster.onRequest = (request) => {
      if (request === 'list one') throw forbidden();
      return request === 'list two' ? list.opened : undefined;
    };
    await play.start();
    await expect(cache.list(ThingKind)).rejects.toThrow('reflector "things in one": the user of these credentials');
    await cache.setNamespaces(ThingKind, ['two']);
    const items = cache.list(ThingKind).then((all) => all.items.length);
    await clock.settle();
    list.open();
    expect(await items).toBe(1);
  });

  test('after the end: refused, and no watch begins', async () => {
    await using play = await new CachePlay({ namespaces: ['one'] }).start();
    await play.cache.close();
    await expect(play.cache.setNamespaces(ThingKind, ['two'])).rejects.toThrow('the cache has stopped');
    await play.clock.settle();
    expect(play.cluster.watches).toBe(0);
  });

  test('a stop in the middle ends all watches, and reports no deletions', async () => {
    await using play = new CachePlay({ namespaces: ['one'] });
    const { cluster, cache, clock } = play;
    cluster.put('one', 'a');
    await play.start();
    const reported = await play.noting();
    cluster.onRequest = (request) => (request === 'list *' ? new Promise(() => {}) : undefined);
    const changed = cache.setNamespaces(ThingKind, undefined);
    const refused = expect(changed).rejects.toThrow('has stopped');
    await clock.settle();
    expect(cluster.watches).toBe(1);
    await cache.close();
    await refused;
    expect([cluster.watches, reported]).toEqual([0, ['Added one/a']]);
  });
});

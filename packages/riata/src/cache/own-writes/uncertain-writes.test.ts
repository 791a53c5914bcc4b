import { describe, expect, test } from 'vitest';
import { CachePlay } from '../cache.fixture.js';
import { ThingKind } from '../fake-cluster.fixture.js';

describe('after a write whose answer shows no object', () => {
  const deletedMany = { operation: { verb: 'deletecollection', kind: ThingKind, params: {} }, answer: {} };
  const evicted = (name: string) => ({
    operation: { verb: 'create', kind: ThingKind, namespace: 'one', name, subresource: 'eviction', params: {} },
    answer: { kind: 'Status' },
  });
  /** The objects before the test begins, and a watch that sends nothing more. */
  async function behind(...names: readonly string[]) {
    const play = new CachePlay();
    for (const name of names) play.cluster.put('one', name);
    await play.start();
    play.cluster.isMute = true;
    play.cluster.requests.length = 0;
    return play;
  }
  const listed = async ({ cache }: CachePlay) =>
    (await cache.list(ThingKind)).items.map(({ metadata }) => metadata.name);

  test('of many objects: a list waits a while for the watch, then asks what there is, and not again', async () => {
    await using play = await behind('a', 'b', 'c');
    const { cluster, clock } = play;
    for (const name of ['a', 'b']) cluster.delete('one', name);
    cluster.put('one', 'd');
    cluster.wrote(deletedMany as never);
    const reads = Promise.all([listed(play), listed(play)]);
    await clock.advance(2_000);
    expect(await reads).toEqual([
      ['c', 'd'],
      ['c', 'd'],
    ]);
    const count = cluster.requests.length;
    expect(await listed(play)).toEqual(['c', 'd']);
    expect(cluster.requests.length).toBe(count);
  });

  test('of many objects: a watch that has caught up is enough, whatever else happens on the server', async () => {
    await using play = new CachePlay();
    const { cluster } = play;
    for (const name of ['a', 'b']) cluster.put('one', name);
    await play.start();
    cluster.requests.length = 0;
    cluster.delete('one', 'a');
    cluster.wrote(deletedMany as never);
    expect(await listed(play)).toEqual(['b']);
    expect(cluster.requests).toEqual(['list *']);
  });

  test('of many objects: each is asked for once, when it is read', async () => {
    await using play = await behind('a', 'b');
    const { cluster, cache } = play;
    cluster.delete('one', 'a');
    cluster.wrote(deletedMany as never);
    const find = async (name: string) => (await cache.find(ThingKind, { namespace: 'one', name }))?.metadata.name;
    expect([await find('a'), await find('b'), await find('a'), await find('b')]).toEqual([
      undefined,
      'b',
      undefined,
      'b',
    ]);
    expect(cluster.requests).toEqual(['list *', 'find one/a', 'find one/b']);
  });

  test('in a namespace that the cache does not hold: nothing is asked, which might not even be allowed', async () => {
    await using play = new CachePlay({ namespaces: ['two', 'three'] });
    const { cluster, cache } = play;
    await play.start();
    cluster.requests.length = 0;
    cluster.onRequest = (request) => {
      throw new Error(request);
    };
    cluster.wrote(evicted('a') as never);
    cluster.wrote({ ...deletedMany, operation: { ...deletedMany.operation, namespace: 'one' } } as never);
    expect((await cache.list(ThingKind)).items).toEqual([]);
    expect(cluster.requests).toEqual([]);
  });

  test('of one object after the other: a list asks for all at once, not for each', async () => {
    const names = Array.from({ length: 100 }, (_, i) => `p${i}`);
    await using play = await behind(...names);
    const { cluster } = play;
    for (const name of names) {
      if (name !== 'p7') cluster.delete('one', name);
      cluster.wrote(evicted(name) as never);
    }
    expect(await listed(play)).toEqual(['p7']);
    expect(cluster.requests).toEqual(['list *']);
  });

  test('of one among very many: waits for the watch as far as the server is, and lists all of them only then', async () => {
    await using play = await behind(...Array.from({ length: 501 }, (_, i) => `p${i}`));
    const { cluster, clock } = play;
    const after = async (whatHappens: () => void) => {
      cluster.wrote(deletedMany as never);
      const read = listed(play);
      await clock.settle();
      whatHappens();
      await clock.advance(2_000);
      return [(await read).length, cluster.requests.splice(0)];
    };
    cluster.delete('one', 'p7');
    expect(await after(() => {})).toEqual([500, ['list *', 'list *']]);
    cluster.isMute = false;
    expect(await after(() => void cluster.delete('one', 'p8'))).toEqual([499, ['list *']]);
  });
});

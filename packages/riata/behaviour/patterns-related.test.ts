import { isDeletedFinalStateUnknown } from 'riata/cache';
import { ConfigMap, Namespace, Secret } from 'riata/kinds';
import { relatedResource, Trigger } from 'riata/patterns';
import { expect, test } from 'vitest';
import { startPatterns } from './patterns-play.js';
import { describeServers, testOn, until } from './servers.js';

describeServers('related resources', (server) => {
  test('owners are looked at when what they own comes, changes and goes; earlier owners too', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await using play = startPatterns(server(), namespace);
    const { controllers, signal } = play;
    const [maps, secrets] = [controllers.for(ConfigMap), controllers.for(Secret)];
    const looked: string[] = [];
    maps.onChange('look', (key) => void looked.push(key));
    relatedResource.watch('owners', relatedResource.ownerResolver(ConfigMap), maps, [secrets], { signal });
    const owner = await client.create(ConfigMap({ metadata: { namespace, name: 'owner' } }));
    const other = await client.create(ConfigMap({ metadata: { namespace, name: 'other' } }));
    await controllers.start({ signal });
    const sees = (name: string) => until(`${name} is seen`, async () => looked.includes(`${namespace}/${name}`));
    await sees('owner');
    await sees('other');
    const refTo = ({ metadata: { name, uid } }: ConfigMap) => [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }];
    looked.length = 0;
    const key = { namespace, name: 'owned' };
    await client.create(Secret({ metadata: { ...key, ownerReferences: refTo(owner) } }));
    await sees('owner');
    looked.length = 0;
    await client.patch(Secret, key, { type: 'merge', body: { metadata: { ownerReferences: refTo(other) } } });
    await sees('other');
    await sees('owner');
    looked.length = 0;
    await client.delete(Secret, key);
    await sees('other');
    expect(looked).not.toContain(`${namespace}/owner`);
  });

  testOn(
    ['in-process', 'https'],
    'tombstones: a deletion that nobody saw is told with the last that was known',
    async () => {
      const { client, faults } = server();
      const namespace = await server().namespace();
      let repaired: Promise<void> | undefined;
      // While it is cut off, requests wait.
      await using connection = server().connect({ onRequest: () => repaired });
      await using play = startPatterns(server(), namespace, { connection });
      const { controllers, signal } = play;
      const [maps, secrets] = [controllers.for(ConfigMap), controllers.for(Secret)];
      const looked: string[] = [];
      const ends: boolean[] = [];
      secrets.informer.addEventHandler({ onDelete: (secret) => void ends.push(isDeletedFinalStateUnknown(secret)) });
      let failures = 2;
      maps.onChange('look', (key) => void looked.push(key));
      const reported: string[] = [];
      const resolve = (_: string, name: string, secret: Secret | undefined) => {
        if (name !== 'gone') return undefined;
        reported.push(secret?.metadata.labels?.of ?? 'nothing');
        if (isAway && failures > 0) {
          failures -= 1;
          throw new Error('not now');
        }
        const of = secret?.metadata.labels?.of;
        return of === undefined ? [] : [{ namespace, name: of }];
      };
      let isAway = false;
      relatedResource.watch('labelled', resolve, maps, [secrets], { signal });
      await controllers.start({ signal });
      const key = { namespace, name: 'gone' };
      await client.create(Secret({ metadata: { ...key, labels: { of: 'one' } } }));
      await until('it is seen', async () => looked.includes(`${namespace}/one`));
      looked.length = 0;
      reported.length = 0;
      isAway = true;
      let repair = () => {};
      repaired = new Promise((done) => {
        repair = done;
      });
      connection.cut({ graceful: true });
      await client.delete(Secret, key);
      await faults.compact();
      repair();
      await until('its end is seen', async () => looked.includes(`${namespace}/one`));
      expect(failures).toBe(0);
      expect(ends).toEqual([true]);
      expect(reported).toContain('nothing');
    },
  );

  test('cluster-scoped objects, one key for all, and triggers', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await using play = startPatterns(server(), namespace, { cacheDefaults: {} });
    const { controllers, signal } = play;
    const [maps, namespaces] = [controllers.for(ConfigMap), controllers.for(Namespace)];
    const looked: string[] = [];
    namespaces.onChange('look', (key) => void looked.push(key));
    const inIts = (at: string) => [{ namespace: 'without effect', name: at }];
    relatedResource.watchClusterScoped('home', inIts, namespaces, [maps], { signal });
    const secrets = controllers.for(Secret);
    relatedResource.watch('all', relatedResource.triggerAllKey, secrets, [maps], { signal });
    const all: unknown[] = [];
    secrets.onChange('all', (key, secret) => void (key === relatedResource.allKey && all.push(secret)));
    const trigger = new Trigger(secrets);
    let triggered = 0;
    trigger.onTrigger('count', ({ attempt }) => {
      triggered += 1;
      if (attempt === 1 && triggered === 1) throw new Error('once more');
    });
    await controllers.start({ signal });
    await until('it ran twice', async () => triggered >= 2);
    await until('it is seen', async () => looked.includes(namespace));
    looked.length = 0;
    const before = all.length;
    await client.create(ConfigMap({ metadata: { namespace, name: 'a' } }));
    await until('its namespace is looked at', async () => looked.includes(namespace));
    await until('all are looked at', async () => all.length > before);
    expect(all.every((secret) => secret === undefined)).toBe(true);
    const now = triggered;
    trigger.trigger();
    await until('it ran again', async () => triggered > now);
  });

  test('keys that stand for no object are asked for nowhere, also if only one namespace is watched', async () => {
    const namespace = await server().namespace();
    await using play = startPatterns(server(), namespace);
    const { controllers, requests, signal } = play;
    const secrets = controllers.for(Secret);
    const seen: unknown[] = [];
    secrets.onChange('all', (key, secret) => void (key === relatedResource.allKey && seen.push(secret)));
    const trigger = new Trigger(secrets);
    trigger.onTrigger('one', () => void seen.push('triggered'));
    secrets.enqueue({ name: relatedResource.allKey });
    await controllers.start({ signal });
    await until('both ran', async () => seen.length === 2);
    expect(seen.toSorted()).toEqual(['triggered', undefined]);
    const strange = requests.all.filter(({ path }) => !/\/version|\/secrets\?/.test(path));
    expect(strange).toEqual([]);
  });
});

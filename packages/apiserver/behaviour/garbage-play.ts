import { isNotFound } from 'riata';
import { ClusterRole, ConfigMap, CustomResourceDefinition, Event, Job, Secret } from 'riata/kinds';
import { type KubeObject, makeKind, type NamespacedMeta, type OwnerReference } from 'riata/object';
import { describe, expect, test } from 'vitest';
import { type ControlledServer, uniqueName } from './controlled-server.js';

const finalizer = 'riata.dev/kept';
const nobody = '00000000-0000-4000-8000-000000000000';

type Owner = { readonly apiVersion: string; readonly kind: string; readonly metadata: { name: string; uid: string } };

/** A reference to an object, as it is or with something else in it. */
function ownedBy({ apiVersion, kind, metadata: { name, uid } }: Owner, change: Partial<OwnerReference> = {}) {
  return { apiVersion, kind, name, uid, ...change };
}

/** What garbage collection does: the same on every server. */
export function garbagePlay(server: () => ControlledServer): void {
  /** Words for one namespace. */
  async function scene(namespace?: string) {
    const { client, until, calm } = server();
    const at = namespace ?? (await server().newNamespace());
    const find = (name: string) => client.find(ConfigMap, { namespace: at, name });
    return {
      namespace: at,
      find,
      calm,
      make: (name: string, ownerReferences: OwnerReference[] = [], finalizers: string[] = []) =>
        client.create(ConfigMap({ metadata: { namespace: at, name, ownerReferences, finalizers } })),
      remove: (name: string, propagationPolicy?: 'Foreground' | 'Background' | 'Orphan') =>
        client.delete(ConfigMap, { namespace: at, name }, { propagationPolicy }),
      release: (name: string) =>
        client.patch(ConfigMap, { namespace: at, name }, { type: 'merge', body: { metadata: { finalizers: null } } }),
      gone: (name: string) => until(`${name} is gone`, async () => (await find(name)) === undefined),
      going: (name: string) =>
        until(`${name} is to go`, async () => {
          const found = await find(name);
          return found?.metadata.deletionTimestamp !== undefined && found;
        }),
      owners: async (name: string) => (await find(name))?.metadata.ownerReferences?.map((owner) => owner.name),
    };
  }

  describe('background deletion', () => {
    test('deletes what was owned, and what that owned', async () => {
      const { make, remove, gone, find, calm } = await scene();
      const root = await make('root');
      const child = await make('child', [ownedBy(root)]);
      await make('grandchild', [ownedBy(child)]);
      await make('stranger');
      await remove('root', 'Background');
      expect(await find('root')).toBeUndefined();
      await gone('child');
      await gone('grandchild');
      await calm();
      expect(await find('stranger')).toBeDefined();
    });

    test('leaves dependents alone while a finalizer keeps the owner', async () => {
      const { make, remove, gone, find, calm, release } = await scene();
      await make('child', [ownedBy(await make('root', [], [finalizer]))]);
      await remove('root');
      await calm();
      expect(await find('child')).toBeDefined();
      await release('root');
      await gone('child');
    });

    test('waits for the finalizers of dependents', async () => {
      const { make, remove, going, gone, release } = await scene();
      await make('child', [ownedBy(await make('root'))], [finalizer]);
      await remove('root');
      const child = await going('child');
      expect(child.metadata.finalizers).toEqual([finalizer]);
      await release('child');
      await gone('child');
    });
  });

  describe('foreground deletion', () => {
    test('keeps the owner until the dependents that block it are gone', async () => {
      const { make, remove, going, gone, find, calm, release } = await scene();
      await make('child', [ownedBy(await make('root'), { blockOwnerDeletion: true })], [finalizer]);
      await remove('root', 'Foreground');
      await going('child');
      await calm();
      expect((await find('root'))?.metadata).toMatchObject({
        finalizers: ['foregroundDeletion'],
        deletionTimestamp: expect.any(String),
      });
      await release('child');
      await gone('child');
      await gone('root');
    });

    test('does not wait for dependents that do not block, but deletes them', async () => {
      const { make, remove, going, gone, release } = await scene();
      await make('child', [ownedBy(await make('root'))], [finalizer]);
      await remove('root', 'Foreground');
      await gone('root');
      await going('child');
      await release('child');
      await gone('child');
    });

    test('goes through generations, the youngest first', async () => {
      const { client } = server();
      const { namespace, make, remove, gone } = await scene();
      const blocks = { blockOwnerDeletion: true };
      const root = await make('root');
      const child = await make('child', [ownedBy(root, blocks)]);
      const last = await make('grandchild', [ownedBy(child, blocks)]);
      const { resourceVersion } = last.metadata;
      const watch = await client.watch(ConfigMap, { namespace, resourceVersion, timeoutSeconds: 60 });
      await remove('root', 'Foreground');
      const order: string[] = [];
      for await (const event of watch) {
        if (event.type === 'DELETED') order.push(event.object.metadata.name);
        if (order.length === 3) break;
      }
      expect(order).toEqual(['grandchild', 'child', 'root']);
      await gone('root');
    });

    test('marks a dependent that owns others, and deletes at once one that does not', async () => {
      const { client } = server();
      const { namespace, make, remove, gone } = await scene();
      const blocks = { blockOwnerDeletion: true };
      const child = await make('child', [ownedBy(await make('root'), blocks)]);
      await make('grandchild', [ownedBy(child, blocks)]);
      const { resourceVersion } = (await client.list(ConfigMap, { namespace })).metadata;
      const watch = await client.watch(ConfigMap, { namespace, resourceVersion, timeoutSeconds: 60 });
      await remove('root', 'Foreground');
      const seen: string[] = [];
      for await (const event of watch) {
        if (event.type === 'BOOKMARK' || event.type === 'ERROR') continue;
        // Each namespace gets one, in its own time.
        if (event.object.metadata.name === 'kube-root-ca.crt') continue;
        seen.push(`${event.type} ${event.object.metadata.name} ${event.object.metadata.finalizers ?? 'none'}`);
        if (event.type === 'DELETED' && event.object.metadata.name === 'root') break;
      }
      expect(seen).toEqual([
        'MODIFIED root foregroundDeletion',
        'MODIFIED child foregroundDeletion',
        'DELETED grandchild none',
        'DELETED child foregroundDeletion',
        'DELETED root foregroundDeletion',
      ]);
      await gone('root');
    });

    test('takes a dependent from an owner that goes, if it has another one', async () => {
      const { make, remove, gone, owners } = await scene();
      const [one, two] = [await make('one'), await make('two')];
      await make('child', [ownedBy(one, { blockOwnerDeletion: true }), ownedBy(two)]);
      await remove('one', 'Foreground');
      await gone('one');
      expect(await owners('child')).toEqual(['two']);
    });

    test('ends when the dependent that blocks it is taken away', async () => {
      const { client } = server();
      const { namespace, make, remove, going, gone, calm, find } = await scene();
      await make('child', [ownedBy(await make('root'), { blockOwnerDeletion: true })], [finalizer]);
      await remove('root', 'Foreground');
      await going('child');
      await calm();
      expect(await find('root')).toBeDefined();
      const body = { metadata: { ownerReferences: null } };
      await client.patch(ConfigMap, { namespace, name: 'child' }, { type: 'merge', body });
      await gone('root');
      expect(await find('child')).toBeDefined();
    });

    test('of an owner without dependents is over at once', async () => {
      const { make, remove, gone } = await scene();
      await make('root');
      await remove('root', 'Foreground');
      await gone('root');
    });

    test('becomes a background one when requested later', async () => {
      const { make, remove, going, gone, calm, find } = await scene();
      await make('child', [ownedBy(await make('root'), { blockOwnerDeletion: true })], [finalizer]);
      await remove('root', 'Foreground');
      await going('child');
      await remove('root', 'Background');
      await gone('root');
      await calm();
      expect((await find('child'))?.metadata.finalizers).toEqual([finalizer]);
    });
  });

  describe('orphaning deletion', () => {
    test('leaves dependents, without their owner', async () => {
      const { make, remove, gone, owners, calm, find } = await scene();
      const [root, other] = [await make('root'), await make('other')];
      await make('child', [ownedBy(root)]);
      await make('shared', [ownedBy(root), ownedBy(other)]);
      await remove('root', 'Orphan');
      await gone('root');
      await calm();
      expect(await owners('child')).toBeUndefined();
      expect(await owners('shared')).toEqual(['other']);
      expect((await find('child'))?.metadata.deletionTimestamp).toBeUndefined();
    });

    test('keeps the owner while other finalizers do, and orphans all the same', async () => {
      const { make, remove, owners, gone, release, find } = await scene();
      await make('child', [ownedBy(await make('root', [], [finalizer]))]);
      await remove('root', 'Orphan');
      await server().until('the child is orphaned', async () => (await owners('child')) === undefined);
      await server().until('the finalizer is gone', async () => {
        const root = await find('root');
        return root?.metadata.finalizers?.length === 1 && root;
      });
      expect((await find('root'))?.metadata.finalizers).toEqual([finalizer]);
      await release('root');
      await gone('root');
      expect(await find('child')).toBeDefined();
    });

    test('is what a Job does when nothing is said', async () => {
      const { client } = server();
      const { namespace, make, owners, find, calm } = await scene();
      const template = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'a', image: 'a' }] } };
      const job = await client.create(Job({ metadata: { namespace, name: 'job' }, spec: { suspend: true, template } }));
      await make('child', [ownedBy(job)]);
      await client.delete(Job, { namespace, name: 'job' });
      const jobGone = async () => (await client.find(Job, { namespace, name: 'job' })) === undefined;
      await server().until('the job is gone', jobGone);
      await calm();
      expect(await owners('child')).toBeUndefined();
      expect(await find('child')).toBeDefined();
    });
  });

  describe('an object', () => {
    test('whose owner never was is deleted', async () => {
      const { make, gone } = await scene();
      await make('child', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: nobody }]);
      await gone('child');
    });

    test('whose owner has another uid is deleted', async () => {
      const { make, gone, find } = await scene();
      const root = await make('root');
      await make('child', [ownedBy(root, { uid: nobody })]);
      await gone('child');
      expect(await find('root')).toBeDefined();
    });

    test('whose owner has another name, or is of another kind, is deleted', async () => {
      const { make, gone, find } = await scene();
      const root = await make('root');
      await make('by-name', [ownedBy(root, { name: 'somebody' })]);
      await make('by-kind', [ownedBy(root, { kind: 'Secret' })]);
      await gone('by-name');
      await gone('by-kind');
      expect(await find('root')).toBeDefined();
    });

    test('that gets an owner who is not there is deleted', async () => {
      const { client } = server();
      const { namespace, make, gone } = await scene();
      await make('child');
      const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: nobody }];
      const body = { metadata: { ownerReferences } };
      await client.patch(ConfigMap, { namespace, name: 'child' }, { type: 'merge', body });
      await gone('child');
    });

    test('with several owners stays until the last is gone', async () => {
      const { make, remove, gone, owners } = await scene();
      const [one, two] = [await make('one'), await make('two')];
      await make('child', [ownedBy(one), ownedBy(two)]);
      await remove('one');
      await server().until('the reference is dropped', async () => (await owners('child'))?.length === 1);
      expect(await owners('child')).toEqual(['two']);
      await remove('two');
      await gone('child');
    });

    test('with owners that never were forgets them, if one is there', async () => {
      const { make, owners } = await scene();
      const root = await make('root');
      await make('child', [ownedBy(root), ownedBy(root, { name: 'nobody', uid: nobody })]);
      await server().until('the reference is dropped', async () => (await owners('child'))?.length === 1);
      expect(await owners('child')).toEqual(['root']);
    });

    test('whose owner is in another namespace is deleted', async () => {
      const here = await scene();
      const there = await scene();
      const root = await here.make('root');
      await there.make('child', [ownedBy(root)]);
      await there.gone('child');
      expect(await here.find('root')).toBeDefined();
    });

    test('whose owner belongs to the cluster lives as long as it', async () => {
      const { client } = server();
      const { make, gone, find, calm } = await scene();
      const name = uniqueName('role-');
      const role = await client.create(ClusterRole({ metadata: { name }, rules: [] }));
      await make('child', [ownedBy(role)]);
      await calm();
      expect(await find('child')).toBeDefined();
      await client.delete(ClusterRole, { name });
      await gone('child');
    });

    test('that belongs to the cluster is not deleted for an owner in a namespace', async () => {
      const { client } = server();
      const { make, remove, calm } = await scene();
      const root = await make('root');
      const name = uniqueName('role-');
      const ownerReferences = [ownedBy(root)];
      await client.create(ClusterRole({ metadata: { name, ownerReferences }, rules: [] }));
      await calm();
      await remove('root');
      await calm();
      expect(await client.find(ClusterRole, { name })).toBeDefined();
      await client.delete(ClusterRole, { name });
    });

    test('whose owner is of a kind that is not served is left alone', async () => {
      const { make, calm, owners } = await scene();
      const strange = { apiVersion: 'riata.dev/v1', kind: 'Nothing', name: 'x', uid: nobody };
      const root = await make('root');
      await make('child', [strange]);
      await make('shared', [strange, ownedBy(root, { name: 'nobody', uid: nobody.replace('8', '9') })]);
      await calm();
      expect(await owners('child')).toEqual(['x']);
      expect(await owners('shared')).toEqual(['x', 'nobody']);
    });

    test('that is being deleted is left alone', async () => {
      const { make, remove, calm, owners, find } = await scene();
      const [one, two] = [await make('one'), await make('two')];
      await make('child', [ownedBy(one), ownedBy(two)], [finalizer]);
      await remove('child');
      const { resourceVersion } = (await find('child'))!.metadata;
      await remove('one');
      await calm();
      expect(await owners('child')).toEqual(['one', 'two']);
      expect((await find('child'))?.metadata.resourceVersion).toBe(resourceVersion);
    });

    test('keeps its managedFields in step when it loses an owner', async () => {
      const { client } = server();
      const { namespace, make, remove, owners, find } = await scene();
      const [one, two] = [await make('one'), await make('two')];
      const metadata = { namespace, name: 'child', ownerReferences: [ownedBy(one), ownedBy(two)] };
      await client.apply(ConfigMap({ metadata, data: { a: '1' } }), { fieldManager: 'me' });
      await remove('one');
      await server().until('the reference is dropped', async () => (await owners('child'))?.length === 1);
      const entries = (await find('child'))?.metadata.managedFields ?? [];
      expect(entries.map(({ manager, operation }) => [manager, operation])).toEqual([['me', 'Apply']]);
      const text = JSON.stringify(entries[0]?.fieldsV1);
      expect(text).toContain(two.metadata.uid);
      expect(text).not.toContain(one.metadata.uid);
    });
  });

  describe('a circle', () => {
    async function circle() {
      const { client } = server();
      const words = await scene();
      const { namespace, make } = words;
      const one = await make('one');
      const two = await make('two', [ownedBy(one, { blockOwnerDeletion: true })]);
      const body = { metadata: { ownerReferences: [ownedBy(two, { blockOwnerDeletion: true })] } };
      await client.patch(ConfigMap, { namespace, name: 'one' }, { type: 'merge', body });
      return words;
    }

    test('stays while nothing is deleted', async () => {
      const { calm, find } = await circle();
      await calm();
      expect([await find('one'), await find('two')]).not.toContain(undefined);
    });

    test.each(['Background', 'Foreground'] as const)('goes as a whole (%s)', async (policy) => {
      const { remove, gone } = await circle();
      await remove('one', policy);
      await gone('one');
      await gone('two');
    });
  });

  test('an object that owns itself can be deleted', async () => {
    const { client } = server();
    const { namespace, make, remove, gone, calm, find } = await scene();
    const one = await make('one');
    const body = { metadata: { ownerReferences: [ownedBy(one, { blockOwnerDeletion: true })] } };
    await client.patch(ConfigMap, { namespace, name: 'one' }, { type: 'merge', body });
    await calm();
    expect(await find('one')).toBeDefined();
    await remove('one', 'Background');
    await gone('one');
  });

  test('Events are not collected: they are many, and go by themselves', async () => {
    const { client, calm } = server();
    const { namespace } = await scene();
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: nobody }];
    const involvedObject = { namespace, kind: 'ConfigMap', name: 'nobody' };
    await client.create(Event({ metadata: { namespace, name: 'e', ownerReferences }, involvedObject }));
    await calm();
    expect(await client.find(Event, { namespace, name: 'e' })).toBeDefined();
  });

  test('kinds of all sorts own each other', async () => {
    const { client } = server();
    const { namespace, make, gone } = await scene();
    const secret = await client.create(Secret({ metadata: { namespace, name: 'root' } }));
    await make('child', [ownedBy(secret)]);
    await client.delete(Secret, { namespace, name: 'root' });
    await gone('child');
  });

  test('what custom objects own goes with them, even when their definition goes', async () => {
    const { client, until } = server();
    const { namespace, make, gone } = await scene();
    const group = `${uniqueName('g')}.riata.dev`;
    const names = { kind: 'Widget', plural: 'widgets' };
    const Widget = makeKind<KubeObject & { readonly metadata: NamespacedMeta }>({
      ...{ group, version: 'v1', scope: 'Namespaced' },
      ...names,
    });
    const schema = { openAPIV3Schema: { type: 'object' } };
    const name = `widgets.${group}`;
    const versions = [{ name: 'v1', served: true, storage: true, schema }];
    await client.create(
      CustomResourceDefinition({ metadata: { name }, spec: { group, scope: 'Namespaced', names, versions } }),
    );
    await until('the kind is served', () => client.list(Widget).catch(() => undefined));
    // A new kind is followed after a while; who deletes it before leaves to chance what is noticed.
    await client.create(Widget({ metadata: { namespace, name: 'probe' } }));
    await client.delete(Widget, { namespace, name: 'probe' }, { propagationPolicy: 'Orphan' });
    const isFollowed = async () => (await client.find(Widget, { namespace, name: 'probe' })) === undefined;
    await until('the kind is followed', isFollowed);
    const one = await client.create(Widget({ metadata: { namespace, name: 'one' } }));
    const two = await client.create(Widget({ metadata: { namespace, name: 'two' } }));
    await make('of-one', [ownedBy(one)]);
    await make('of-two', [ownedBy(two)]);
    await until('both are known', async () => (await client.list(ConfigMap, { namespace })).items.length >= 2);
    await client.delete(Widget, { namespace, name: 'one' });
    await gone('of-one');
    await client.delete(CustomResourceDefinition, { name });
    const isGone = () => client.get(CustomResourceDefinition, { name }).then(() => false, isNotFound);
    await until('the definition is gone', isGone);
    await gone('of-two');
  });
}

import { control } from 'riata/controller';
import { ConfigMap, Secret } from 'riata/kinds';
import { expect, test } from 'vitest';
import { describeServers, until } from './servers.js';

describeServers('a controller whose code is replaced', (server) => {
  test('five times while objects change: each code takes over all of them, and nothing is listed or watched again', async () => {
    const namespace = await server().namespace();
    const { client } = server();
    const at = (name: string) => ({ namespace, name });
    const names = ['a', 'b', 'c'];
    for (const name of names) await client.create(ConfigMap({ metadata: at(name), data: { size: '0' } }));
    const done = (name: string) => `${name}-done`;
    const define = (version: number) => {
      const base = control(ConfigMap, { name: 'copies', predicates: [({ key }) => !key.endsWith('-done')] })
        .watches(Secret, ({ metadata }) => (metadata.namespace === namespace ? [at(metadata.name)] : []))
        .indexes(ConfigMap, `field-${version % 2}`, ({ metadata }) => [metadata.name]);
      return base.reconcile(async ({ object, key, client: cached, apply }) => {
        if (key.namespace !== namespace) return;
        const selection = { namespace, fieldSelector: { [`field-${version % 2}`]: key.name } };
        const { items } = await cached.list(ConfigMap, selection);
        const data = { version: `${version}`, size: object.data?.size ?? '', found: `${items.length}` };
        await apply(ConfigMap({ metadata: at(done(key.name)), data }));
      });
    };
    const manager = await server().startManager({ cache: { namespaces: [namespace] } });
    const added = manager.add(define(0));
    const copied = async (version: number) => {
      for (const name of names) {
        const copy = await client.find(ConfigMap, at(done(name)));
        const { data } = await client.get(ConfigMap, at(name));
        expect(copy?.data).toEqual({ version: `${version}`, size: data?.size, found: '1' });
      }
      return true;
    };
    await until('version 0', () => copied(0).catch(() => false));
    const reads = () =>
      server().requests.all.filter(({ verb, client: by }) => by === manager.name && /list|watch/.test(verb));
    const before = reads().length;
    for (let version = 1; version <= 5; version += 1) {
      const name = names[version % names.length] ?? '';
      const changed = client.patch(ConfigMap, at(name), { type: 'merge', body: { data: { size: `${version}` } } });
      await added.replace(define(version));
      await changed;
      await until(`version ${version}`, () => copied(version).catch(() => false));
    }
    expect(reads().length).toBe(before);
    await manager.stop();
  });
});

import { CustomResourceDefinition } from 'riata/kinds';
import { defineKind } from 'riata/object';
import { installCrds, isCrdDataLoss } from 'riata/patterns';
import { expect, test } from 'vitest';
import { describeServers, rejection, uniqueName } from './servers.js';

const text = { type: 'string' } as const;

describeServers('installing definitions', (server) => {
  test('creates, updates and waits; what is as wanted is not written; what would lose data is refused', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const group = `${uniqueName('g')}.riata.dev`;
    const foo = (properties: Readonly<Record<string, typeof text>>, more: object = {}) =>
      defineKind({ group, version: 'v1', kind: 'Foo', spec: { type: 'object', properties }, ...more });
    const name = `foos.${group}`;
    const First = foo({ a: text });
    expect(await installCrds(client, [First])).toEqual([{ name, action: 'created' }]);
    expect(await installCrds(client, [First.crd()])).toEqual([{ name, action: 'unchanged' }]);
    // Nothing is there yet, so nothing is lost.
    expect(await installCrds(client, [foo({ b: text })])).toEqual([{ name, action: 'updated' }]);
    await installCrds(client, [foo({ a: text, b: text })]);
    await client.create(First({ metadata: { namespace, name: 'one' }, spec: { a: 'x' } }));
    const refused = await rejection(installCrds(client, [foo({ b: text })]));
    expect(isCrdDataLoss(refused) && refused.losses).toEqual([{ of: 'fields', what: 'v1: spec.a would be removed' }]);
    const scope = await rejection(installCrds(client, [foo({ a: text, b: text }, { scope: 'Cluster' })]));
    expect(scope.message).toContain('scope would change from Namespaced to Cluster');
    const version = await rejection(installCrds(client, [foo({ a: text, b: text }, { version: 'v2' })]));
    expect(version.message).toContain('version v1 would be removed while objects are stored in it');
    expect(await client.get(First, { namespace, name: 'one' })).toMatchObject({ spec: { a: 'x' } });
    await client.delete(First, { namespace, name: 'one' });
    const empty = await rejection(installCrds(client, [foo({ a: text }, { scope: 'Cluster' })]));
    expect(empty.message).toContain('there are no objects');
    const wide = [foo({ a: text }, { scope: 'Cluster' })];
    expect(await installCrds(client, wide, { replaceEmpty: true })).toEqual([{ name, action: 'replaced' }]);
    expect((await client.get(CustomResourceDefinition, { name })).spec.scope).toBe('Cluster');
    await client.delete(CustomResourceDefinition, { name });
  });
});

import { gzipSync } from 'node:zlib';
import { ConfigMap, Deployment } from 'riata/kinds';
import { setIdentity, setMarks } from 'riata/patterns';
import { expect, test } from 'vitest';
import { installKind } from './custom-kind.js';
import { map, names, startApply } from './desired-set-play.js';
import { describeServers, uniqueName } from './servers.js';

/** As wrangler writes it: strings cut at 64 characters, gzip, base64 without padding. */
function wranglerText(object: object): string {
  const cut = (_key: string, value: unknown) => (typeof value === 'string' ? value.slice(0, 64) : value);
  return gzipSync(JSON.stringify(object, cut)).toString('base64').replace(/=+$/, '');
}

describeServers('forms of a desired set', (server) => {
  test('three-way: what is dropped goes, what others wrote stays, what is as wanted is not written', async () => {
    const namespace = await server().namespace();
    await using play = startApply(server(), { setId: uniqueName('set-'), mode: 'three-way' });
    const { applier, client } = play;
    await applier.apply([map(namespace, 'a', { x: '1', y: '1' }), map(namespace, 'b')]);
    await client.patch(ConfigMap, { namespace, name: 'a' }, { type: 'merge', body: { data: { theirs: '1', x: '9' } } });
    play.writes();
    const { updated, deleted } = await applier.apply([map(namespace, 'a', { x: '1' })]);
    expect([names(updated), names(deleted)]).toEqual([['a'], ['b']]);
    expect((await client.get(ConfigMap, { namespace, name: 'a' })).data).toEqual({ x: '1', theirs: '1' });
    expect(play.writes()).toBe(2);
    expect(names((await applier.apply([map(namespace, 'a', { x: '1' })])).unchanged)).toEqual(['a']);
    expect(play.writes()).toBe(0);
    expect((await applier.dryRun([map(namespace, 'a', { x: '2' })])).update).toMatchObject([
      { diff: [{ path: 'data.x', from: '1', to: '2' }] },
    ]);
    await applier.apply([]);
  });

  test('three-way: custom kinds, and taking over what is there', async () => {
    const namespace = await server().namespace();
    const Widget = await installKind(server());
    await using play = startApply(server(), { setId: uniqueName('set-'), mode: 'three-way' });
    const { applier, client } = play;
    await client.create(Widget({ metadata: { namespace, name: 'w' }, spec: { theirs: 1, size: 1 } }));
    const widget = (spec: object) => Widget({ metadata: { namespace, name: 'w' }, spec: { ...spec } });
    expect(names((await applier.apply([widget({ size: 2, list: [1, 2] })])).created)).toEqual(['w']);
    await applier.apply([widget({ size: 2 })]);
    expect((await client.get(Widget, { namespace, name: 'w' })).spec).toEqual({ theirs: 1, size: 2 });
    await applier.apply([]);
  });

  test('server-side takes over what the three-way form applied, and removes what is no longer desired', async () => {
    const namespace = await server().namespace();
    await using play = startApply(server(), { setId: uniqueName('set-') });
    const { applier, client } = play;
    const labels = { app: 'web' };
    const web = (env: readonly string[]) =>
      Deployment({
        metadata: { namespace, name: 'web' },
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: { containers: [{ name: 'c', image: 'i', env: env.map((name) => ({ name, value: '1' })) }] },
          },
        },
      });
    await applier.apply([web(['A', 'B', 'C'])], { mode: 'three-way' });
    const read = async () => {
      const { spec, metadata } = await client.get(Deployment, { namespace, name: 'web' });
      return { env: spec?.template.spec?.containers[0]?.env?.map(({ name }) => name), notes: metadata.annotations };
    };
    const plan = await applier.dryRun([web(['A', 'B'])]);
    expect(plan.update).toHaveLength(1);
    await applier.apply([web(['A', 'B'])]);
    expect((await read()).env).toEqual(['A', 'B']);
    expect((await read()).notes).not.toHaveProperty([setMarks.applied]);
    // The old writer's claim is gone, too.
    await applier.apply([web(['A'])]);
    expect((await read()).env).toEqual(['A']);
    play.writes();
    await applier.apply([web(['A'])]);
    expect(play.writes()).toBe(0);
    await applier.apply([]);
  });

  test('⚠ strings truncated to 64 characters: what wrangler itself has applied changes hands whole', async () => {
    const namespace = await server().namespace();
    const setId = uniqueName('set-');
    const { labels, annotations } = setIdentity({ setId });
    await using play = startApply(server(), { setId });
    const { applier, client } = play;
    const long = 'x'.repeat(200);
    const metadata = { namespace, name: 'a', labels, annotations };
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { long, old: '1', kept: '1' } };
    const noted = { ...metadata, annotations: { ...annotations, [setMarks.applied]: wranglerText(applied) } };
    await client.create(ConfigMap({ metadata: noted, data: { ...applied.data, other: 'by other means' } }));
    const { updated } = await applier.apply([map(namespace, 'a', { long, kept: '2' })]);
    expect(names(updated)).toEqual(['a']);
    const { data, metadata: after } = await client.get(ConfigMap, { namespace, name: 'a' });
    expect(data).toEqual({ long, kept: '2', other: 'by other means' });
    expect(after.annotations).not.toHaveProperty([setMarks.applied]);
    await applier.apply([map(namespace, 'a', { long })]);
    expect((await client.get(ConfigMap, { namespace, name: 'a' })).data).toEqual({ long, other: 'by other means' });
    await applier.apply([]);
  });

  test('⚠ strings truncated to 64 characters: the three-way form keeps them whole', async () => {
    const namespace = await server().namespace();
    await using play = startApply(server(), { setId: uniqueName('set-'), mode: 'three-way' });
    const { applier, client } = play;
    const long = (end: string) => ({ text: `${'x'.repeat(200)}${end}` });
    await applier.apply([map(namespace, 'a', long('1'))]);
    expect(names((await applier.apply([map(namespace, 'a', long('2'))])).updated)).toEqual(['a']);
    expect((await client.get(ConfigMap, { namespace, name: 'a' })).data).toEqual(long('2'));
    play.writes();
    await applier.apply([map(namespace, 'a', long('2'))]);
    expect(play.writes()).toBe(0);
    await applier.apply([]);
  });
});

import type { TestEnvironment } from '@riata/testing';
import { CustomResourceDefinition } from 'riata/kinds';
import { silentLogger } from 'riata/runtime';
import { DynamicController } from 'riata/shared';
import { expect, test } from 'vitest';
import { installKind, type WidgetKind } from './custom-kind.js';
import { describeServers, until } from './servers.js';
import { startShared, watchesOf } from './shared-play.js';

const runtime = { log: silentLogger };

async function uninstall({ client }: TestEnvironment, { plural, group }: WidgetKind): Promise<void> {
  await client.delete(CustomResourceDefinition, { name: `${plural}.${group}` });
  const name = `${plural}.${group}`;
  await until(`${name} is gone`, async () => (await client.find(CustomResourceDefinition, { name })) === undefined);
}

describeServers('dynamic controllers', (server) => {
  test('a handler is on every matching kind, as they are installed and removed; deletions of objects are reported', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const First = await installKind(server());
    await client.create(First({ metadata: { namespace, name: 'a' } }));
    await using shared = startShared(server(), namespace);
    const { factory, signal } = shared;
    const dynamic = new DynamicController(factory, { runtime, debounce: '50ms' });
    const seen: string[] = [];
    const groups = new Set([First.group]);
    dynamic.onChange(
      'all',
      ({ group, kind }) => groups.has(group) && kind === 'Widget',
      (kind, key, object) => void seen.push(`${kind.group} ${key} ${object === undefined ? 'gone' : 'there'}`),
      { signal },
    );
    await factory.start({ signal });
    await until('the first was seen', async () => seen.includes(`${First.group} ${namespace}/a there`));
    expect(dynamic.kinds.map(({ group }) => group)).toEqual([First.group]);

    await client.delete(First, { namespace, name: 'a' });
    await until('its end was seen', async () => seen.includes(`${First.group} ${namespace}/a gone`));

    const Second = await installKind(server());
    groups.add(Second.group);
    const Third = await installKind(server());
    await client.create(Second({ metadata: { namespace, name: 'b' } }));
    await until('another kind was seen', async () => seen.includes(`${Second.group} ${namespace}/b there`));
    expect(seen.some((line) => line.startsWith(Third.group))).toBe(false);

    await uninstall(server(), Second);
    await until('its end was seen', async () => seen.includes(`${Second.group} ${namespace}/b gone`));
    await until('nobody is on it', async () => dynamic.kinds.length === 1);
    await until(
      'it is watched no more',
      async () => !factory.caches.cache.health.some(({ kind }) => kind.group === Second.group),
    );
    expect(seen.filter((line) => line === `${Second.group} ${namespace}/b gone`)).toHaveLength(1);
  });

  test('a pattern goes by the group; a kind that others handle is watched once, and stays theirs', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const Widget = await installKind(server());
    await using shared = startShared(server(), namespace);
    const { factory, signal, requests } = shared;
    const seen: string[] = [];
    const widgets = factory.forKind(Widget);
    widgets.registerHandler('static', (key) => void seen.push(`static ${key}`));
    const dynamic = new DynamicController(factory, { runtime, debounce: '50ms' });
    const pattern = new RegExp(`^${Widget.group.replaceAll('.', '\\.')}$`, 'g');
    const registration = dynamic.onChange('dynamic', pattern, (_, key) => void seen.push(`dynamic ${key}`));
    await factory.start({ signal });
    await client.create(Widget({ metadata: { namespace, name: 'a' } }));
    await until('both have seen it', async () =>
      ['static', 'dynamic'].every((name) => seen.includes(`${name} ${namespace}/a`)),
    );
    expect(watchesOf(requests, Widget)).toBe(1);
    await registration.remove();
    expect(widgets.handlers).toEqual(['static']);
    seen.length = 0;
    await client.create(Widget({ metadata: { namespace, name: 'b' } }));
    await until('one has seen it', async () => seen.includes(`static ${namespace}/b`));
    expect(seen.some((line) => line.startsWith('dynamic'))).toBe(false);
  });
});

import { control } from 'riata/controller';
import { ConfigMap, Secret } from 'riata/kinds';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault } from './widget.fixture.js';

const map = (name: string, data: Record<string, string>) => ConfigMap({ metadata: inDefault(name), data });
const secret = (name: string) => Secret({ metadata: inDefault(name) });

/** A controller of ConfigMaps that refer to Secrets by one of their entries, and what Secrets have led to. */
function refersBy(entry: string, name = entry) {
  const seen: string[] = [];
  const definition = control(ConfigMap, { name })
    .watches(Secret, { referencedBy: (object) => object.data?.[entry] })
    .reconcile(({ reasons, key }) => {
      for (const { source, object } of reasons) if (source === 'watches Secret') seen.push(`${key.name}: ${object}`);
    });
  return { definition, seen };
}

test('controllers of one kind that each have references of their own', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  const [one, two] = [refersBy('one'), refersBy('two')];
  await env.run(one.definition, two.definition);
  await env.client.create(map('a', { one: 'x', two: 'y' }));
  await env.settle();
  await env.client.create(secret('x'));
  await env.client.create(secret('y'));
  await env.settle();
  expect([one.seen, two.seen]).toEqual([['a: Secret default/x'], ['a: Secret default/y']]);
});

test('a controller with references is removed and another one added in its place; what it watched ends with it', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  const [before, after] = [refersBy('one', 'maps'), refersBy('two', 'maps')];
  const manager = await env.startManager();
  await env.client.create(map('a', { one: 'x', two: 'y' }));
  const added = manager.add(before.definition);
  await env.settle();
  await added.remove();
  expect(manager.manager.cache.health).toEqual([]);
  manager.add(after.definition);
  await env.settle();
  await env.client.create(secret('x'));
  await env.client.create(secret('y'));
  await env.settle();
  expect([before.seen, after.seen]).toEqual([[], ['a: Secret default/y']]);
});

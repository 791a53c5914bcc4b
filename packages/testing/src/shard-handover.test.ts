import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault } from './widget.fixture.js';

const names = Array.from({ length: 30 }, (_, at) => `m${at}`);

/** Replicas that share the ConfigMaps of the test, and what each of them was called for. */
async function replicas(env: TestEnvironment) {
  const seen: string[] = [];
  const start = async (identity: string) => {
    const maps = control(ConfigMap, { sharded: true, predicates: [({ key }) => key.startsWith('default/m')] })
      .evenWhenGone()
      .reconcile(({ object, key: { name } }) => void seen.push(`${identity} ${object ? 'has' : 'misses'} ${name}`));
    const sharding = { namespace: 'default', name: 'ring', identity };
    const run = await env.startManager({ name: identity, sharding, run: [maps] });
    const owned = () => run.manager.shards?.owned.length ?? 0;
    const owns = (name: string) => run.manager.shards?.owns(inDefault(name)) ?? false;
    return { run, owned, owns };
  };
  for (const name of names) await env.client.create(ConfigMap({ metadata: inDefault(name) }));
  return { seen, start };
}

test('an object that goes while its replica is dead is told gone by the next one, which was not asked before', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  const { seen, start } = await replicas(env);
  const [a, b] = [await start('a'), await start('b')];
  await env.eventually(() => a.owned() === 32 && b.owned() === 32 && seen.length >= names.length, { within: '2m' });
  const orphan = names.find((name) => a.owns(name)) ?? expect.fail('a has none');
  const kept = names.find((name) => b.owns(name)) ?? expect.fail('b has none');
  // As a process that has crashed: nothing of it arrives any more.
  env.faults.add({ client: 'a' }, { refuse: true });
  await env.eventually(() => a.owned() === 0, { within: '1m' });
  seen.length = 0;
  await env.client.delete(ConfigMap, inDefault(orphan));
  await env.client.delete(ConfigMap, inDefault(kept));
  await env.eventually(() => b.owned() === 64, { within: '1m' });
  await env.settle();
  expect(seen.filter((line) => line.includes('misses')).sort()).toEqual(
    [`b misses ${orphan}`, `b misses ${kept}`].sort(),
  );
});

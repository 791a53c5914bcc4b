import { type ControllerDefinition, control } from 'riata/controller';
import { ConfigMap, Secret } from 'riata/kinds';
import { Manager } from 'riata/manager';
import type { KubeObject } from 'riata/object';
import { memoryLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { describeServers, until } from './servers.js';

const refuse = ({ metadata: { name, annotations } }: KubeObject) => {
  if (name === 'poison' && annotations?.fixed !== 'true') throw new Error(`cannot read ${name}`);
};

type Note = (name: string) => void;

/** Controllers of ConfigMaps and Secrets with a function that fails for the object called `poison`. */
const positions: Readonly<Record<string, (note: Note) => ControllerDefinition>> = {
  'a predicate': (note) =>
    control(ConfigMap, {
      predicates: [
        ({ new: now }) => {
          if (now !== undefined) refuse(now);
          return true;
        },
      ],
    }).reconcile(({ key }) => note(key.name)),
  'a map function': (note) =>
    control(Secret)
      .watches(ConfigMap, async (object) => {
        refuse(object);
        return [{ namespace: object.metadata.namespace, name: object.metadata.name }];
      })
      .evenWhenGone()
      .reconcile(({ key }) => note(key.name)),
};

describeServers('an object that a function of a controller fails for', (server) => {
  test.each(
    Object.entries(positions).flatMap(([what, make]) =>
      ['at the start', 'later'].map((when) => ({ what, when, make })),
    ),
  )(
    '$what, $when: others are reconciled, and so is it once it is mended; one that is gone is forgotten',
    async (play) => {
      const { client, config } = server();
      const namespace = await server().namespace();
      const names = ['a', 'poison', 'z'];
      const create = async () => {
        for (const name of names) await client.create(ConfigMap({ metadata: { namespace, name } }));
      };
      if (play.when === 'at the start') await create();
      const log = memoryLogger();
      await using manager = await Manager.create({ config, cache: { namespaces: [namespace] }, runtime: { log } });
      const seen = new Set<string>();
      const added = play.make((name) => void seen.add(name));
      manager.add(added);
      const stop = new AbortController();
      const ended = manager.run({ signal: stop.signal });
      if (play.when === 'later') {
        await until('it runs', async () => manager.controllers[0]?.phase === 'running');
        await create();
      }
      await until('the others are reconciled', async () => seen.has('a') && seen.has('z'));
      const failing = () => manager.controllers.flatMap((controller) => controller.failing);
      const [first] = await until('it is known', async () => failing().length > 0 && failing());
      expect(first).toMatchObject({
        ...{ key: `${namespace}/poison`, error: 'Error: cannot read poison' },
        at: expect.stringContaining('poison-objects.test.ts'),
      });
      expect(seen.has('poison')).toBe(false);
      const key = { namespace, name: 'poison' };
      await client.patch(ConfigMap, key, { type: 'merge', body: { metadata: { annotations: { fixed: 'true' } } } });
      await until('it is reconciled', async () => seen.has('poison') && failing().length === 0);
      await client.patch(ConfigMap, key, { type: 'merge', body: { metadata: { annotations: { fixed: 'false' } } } });
      await until('it fails again', async () => failing().length > 0);
      await client.delete(ConfigMap, key);
      await until('it is forgotten', async () => failing().length === 0);
      stop.abort();
      await ended;
    },
  );
});
